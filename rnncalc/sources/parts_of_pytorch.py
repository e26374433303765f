"""What programs for PyTorch have in common, as text: the run of a cell, the stand-in for an external part, the main."""

RECURRENT = '''
class Recurrent(nn.Module):
    """Runs a cell along (batch, steps, features), and a second one backwards.

    As in nn.LSTM, a state has the directions in front, (directions, batch, units), and
    the outputs of both directions stand side by side.
    """

    def __init__(self, *cells: nn.Module) -> None:
        super().__init__()
        self.cells = nn.ModuleList(cells)

    def forward(
        self, x: torch.Tensor, start: tuple[torch.Tensor, ...] | None = None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
        ways, ends = [], []
        for way, cell in enumerate(self.cells):
            if start is None:
                state = tuple(x.new_zeros(len(x), width) for width in cell.widths)
            else:
                state = tuple(each[way] for each in start)
            outputs = []
            for step in x.flip(1).unbind(1) if way else x.unbind(1):
                output, state = cell(step, state)
                outputs.append(output)
            ways.append(torch.stack(outputs[::-1] if way else outputs, dim=1))
            ends.append(state)
        return torch.cat(ways, dim=-1), tuple(torch.stack(each) for each in zip(*ends))
'''

EXTERNAL = '''
class External(nn.Module):
    """Stands in for a part described elsewhere: so many parameters, and zeros."""

    def __init__(self, params: int, outputs: int) -> None:
        super().__init__()
        self.external = nn.Parameter(torch.zeros(params))
        self.outputs = outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.new_zeros(*x.shape[:-1], self.outputs)
'''

MAIN = """


def main() -> None:
    model = {name}()
    for name, parameter in model.named_parameters():
        print(f"{{name:40}}{{tuple(parameter.shape)!s:>20}}{{parameter.numel():>16,}}")
    total = sum(parameter.numel() for parameter in model.parameters())
    print(f"{{'total':40}}{{total:>36,}}")


if __name__ == "__main__":
    main()
"""
