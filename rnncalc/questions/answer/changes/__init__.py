"""What mistakes do to a worksheet: the changes that the table in `mistakes/` is made of."""
