"""The vocabulary in which reports and pictures are written: equations, sheets, and what is said of a network."""
