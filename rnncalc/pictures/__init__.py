"""What is drawn of a network: one file a view, and `picture.py`, what a picture is made of."""
