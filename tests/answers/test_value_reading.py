"""Values as learners write them, with their names and shapes."""

import pytest

from rnncalc.answers.value_reading import read_array, read_values


@pytest.mark.parametrize(
    ("text", "size", "values"),
    [
        ("h_1 = (0.76, -0.2), y_2 = 0.81", 2, [("h_1", (2,)), ("y_2", ())]),
        ("h_1 = 0,76; h_2 = 0,5", 1, [("h_1", ()), ("h_2", ())]),
        ("h_1 = (0,76; -0,2)", 2, [("h_1", (2,))]),
        ("h_1 = tanh(0.5) = 0.46", 1, [("h_1", ())]),
        ("h_1 = [0.76 -0.2]", 2, [("h_1", (2,))]),
        ("dL/dW_hh = [[1, 2], [3, 4]]", 4, [("dL/dW_hh", (2, 2))]),
        (r"$\frac{\partial L}{\partial W_{hh}} = \begin{pmatrix}1 & 2\\3 & 4\end{pmatrix}$", 4, [("", (2, 2))]),
        ("h_1: 0.4\nh_2: 0.5", 1, [("h_1", ()), ("h_2", ())]),
        ("h_1 = (0,76 | -0,2)", 2, [("h_1", (2,))]),
        ("h_1 = ⟨0.76, -0.2⟩", 2, [("h_1", (2,))]),
        ("t | h | y\n1 | (0, 0.9) | \n2 | (1, 2) | 3", 2, [("h_1", (2,)), ("h_2", (2,)), ("y_2", ())]),
        ("h_1 h_2\n-0.4 0.5", 1, [("h_1", ()), ("h_2", ())]),
        ("W = np.array([[1, 2, 3]])", 3, [("W", (1, 3))]),
        ("h_1 = (1, 2)^T", 2, [("h_1", (2,))]),
    ],
)
def test_values_are_read_with_their_names(text: str, size: int, values: list[tuple[str, tuple[int, ...]]]) -> None:
    """As vectors and matrices of any writing; the expected size says what a comma is."""
    read = read_values(text)
    assert [read_array(each.text, size)[0] for each in read] == [shape for _, shape in values]
    assert all(name in each.name for each, (name, _) in zip(read, values, strict=True))
