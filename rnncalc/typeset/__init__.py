"""The vocabulary of reports and pictures: equations, sheets, and the words on a network."""
