import math

import keras
from keras import layers, ops


class Network(keras.Model):
    """Network: 72 parameters.

    Reads x (batch, steps, 4); gives (batch, 3).
    """

    def __init__(self) -> None:
        super().__init__()
        self.gru_1 = layers.GRU(3, name="gru_1")  # 72 parameters

    def call(self, x):
        return self.gru_1(x)  # (batch, 3)


def main() -> None:
    model = Network()
    model(ops.zeros((1, 2, 4)))
    for weight in model.weights:
        shape = tuple(weight.shape)
        print(f"{weight.path:60}{shape!s:>20}{math.prod(shape):>16,}")
    print(f"{'total':60}{model.count_params():>36,}")


if __name__ == "__main__":
    main()
