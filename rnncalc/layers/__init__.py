"""What a layer is: its kind, its options, its gates and its equations."""
