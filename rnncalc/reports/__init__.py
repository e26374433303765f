"""What a result says: results as sheets for people and data for machines."""
