"""The mistakes that learners make when they count: a table, one row each, the likeliest first.

A row begins with its subject, a constructor. It has the name of a mistake, a sentence for the learner, and the change
that the mistake makes to a worksheet. If a number has several explanations, they are listed in the order of the rows:
first the mistakes that matter most in a course, last the rare ones.
"""

from __future__ import annotations

from functools import partial

from rnncalc.answers import changes, families
from rnncalc.answers.changes import (
    along,
    change_first,
    feeding,
    in_cells,
    in_layers,
    in_outputs,
    in_turn,
    leave_out,
    matrices_each_step,
    put,
    set_reads,
    times_steps,
    with_bias_size,
    with_biases,
    with_count,
    with_gates,
    with_other,
    with_part,
    with_repeats,
    with_width,
    without_other,
)
from rnncalc.answers.judgement import Mistake
from rnncalc.answers.quantities import ONE_STEP, OUTPUT_EACH_STEP
from rnncalc.answers.worksheet import GateInput, GateLine, multiple, state_of, times
from rnncalc.conventions.tensor import STORED, Role
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, External, Output, Transform

# the constructors of rows, by subject; those of a count of parameters alone say so
attention = partial(Mistake, "attention")
directions = partial(Mistake, "directions")
gates = partial(Mistake, "gates")
kernel = partial(Mistake, "kernel")
layers = partial(Mistake, "layers")
output = partial(Mistake, "output layer")
projections = partial(Mistake, "projections")
recurrence = partial(Mistake, "recurrence")
widths = partial(Mistake, "widths")
biases = partial(Mistake, "biases", quantity="params")
embedding = partial(Mistake, "embedding", quantity="params")
norms = partial(Mistake, "normalisation", quantity="params")
peepholes = partial(Mistake, "peepholes", quantity="params")
states = partial(Mistake, "states", quantity="params")
steps = partial(Mistake, "steps", quantity="params")
pairs = partial(Mistake, "pairs of steps")

NORM_1, NORM_2 = ("norm_1_scale", "norm_1_bias"), ("norm_2_scale", "norm_2_bias")

# a row is read on one line, or on two: what the learner does, and the change
# fmt: off
TABLE: tuple[Mistake, ...] = (
    # the likeliest mistake in a cell whose gates do not read the past
    recurrence("recurrence-counted", "counts recurrent matrices; no gate of this cell reads the past",
            in_cells(lambda line: line if line.width("past") else changes.with_recurrence(line))),
    # options that few networks have: forgotten, or counted wrong; an exercise on such a network is about its option
    peepholes("no-peepholes", "ignores the peepholes", in_cells(with_width("peephole", lambda line: 0))),
    states("no-learned-state", "ignores the learned initial state", in_cells(without_other("state"))),
    layers("no-initial-state", "leaves out the dense layers that make the initial state",
            in_layers(lambda line: leave_out(line) if line.placed.starts else line, Dense)),
    states("only-state", "counts {state} alone of the learned initial states", family=families.one_state),
    embedding("no-positions", "leaves out the table of positions", in_layers(without_other("position_embedding"))),
    gates("no-scalars", "leaves out the single numbers of the cell", in_cells(without_other("scalars")),
          quantity="params"),
    projections("no-projection", "ignores the projection", in_turn(  # no matrix, and width h where it was read
        feeding(changes.width_without_projection), in_cells(changes.recurrent_of_units),
        in_cells(without_other("projection")))),
    projections("units-for-projection", "feeds the next layer with h instead of the projection",
            feeding(changes.width_without_projection)),
    recurrence("recurrent-of-units", "gives the recurrent matrices h columns instead of the projection's",
            in_cells(changes.recurrent_of_units)),
    projections("no-projection-matrix", "leaves out the projection's own matrix",
                in_cells(without_other("projection"))),
    widths("no-extra-inputs", "ignores the extra inputs", in_layers(
        lambda line: set_reads(line, "input", width=line.placed.inputs - line.layer.extra_inputs) if (
            line.layer.extra_inputs) else line, Cell, Dense)),
    recurrence("full-recurrence", "counts h × h recurrent weights, but the recurrence is diagonal",
            in_cells(lambda line: set_reads(line, "past", width=line.h) if line.width("past") == 1 else line)),
    recurrence("whole-matrices", "counts whole recurrent matrices, but theirs are of low rank or in blocks",
            in_cells(changes.with_whole_matrices)),
    biases("biases-counted", "counts biases in layers that have none",
           in_layers(changes.count_biases, Cell, Dense, Transform)),
    kernel("no-kernel", "forgets the kernel, as if a gate read its own place alone", in_cells(changes.with_taps(0))),
    kernel("kernel-along-one-axis", "counts k weights for the kernel, those of one axis",
            in_cells(changes.with_taps(1))),
    norms("no-gains", "leaves out the gains of the normalisation", in_cells(changes.without_gains)),
    norms("no-norm", "ignores the layer normalisation", in_cells(
        lambda line: changes.without_norm_of_states(changes.without_gains(line)) if line.width("gain") else line)),
    norms("no-norm-of-states", "leaves out the normalisation of the cell state",
           in_cells(changes.without_norm_of_states)),
    gates("absent-gate", "counts weights for the {gate}, which has none here", family=families.absent_gates),
    embedding("tied-twice", "counts the tied output matrix a second time", in_outputs(
        lambda line: line if line.width("input") else line._replace(
            gates=(GateLine((GateInput("input", line.placed.inputs),), line.biases),)))),
    layers("frozen-out", "leaves out the frozen parameters",
           in_layers(lambda line: leave_out(line) if line.layer.frozen else line), quantity="params"),
    layers("no-external", "leaves out the part counted elsewhere", in_layers(leave_out, External)),
    # a decoder's attention
    attention("no-attention", "leaves out the attention", changes.in_attention(leave_out)),
    attention("no-context", "does not add the context to what the decoder's layers read", changes.without_context),
    attention("keys-of-one-direction", "gives the keys of the attention half the encoder's width, one direction of two",
            changes.with_keys_of_one_direction),
    attention("keys-of-query", "gives the keys of the attention the query's width",
            changes.with_keys(lambda line: line.placed.sizes["q"])),
    attention("no-score", "forgets v, the vector of the attention's score", in_layers(without_other("score"))),
    biases("no-score-bias", "leaves out the bias of the attention's score", in_layers(without_other("score_bias"))),
    biases("no-score-and-bias", "forgets v, the vector of the attention's score, and its bias",
           in_layers(without_other("score", "score_bias"))),
    attention("attention-times-steps", "counts the attention once for each step",
          changes.in_attention(times_steps), quantity="params"),
    attention("attention-times-encoder-steps", "counts the attention once for each step of the encoder",
          changes.in_attention(changes.times_repeats(lambda repeats: repeats.steps)), quantity="params"),
    attention("attention-times-pairs", "counts the attention once for each pair of steps",
          changes.in_attention(changes.times_repeats(lambda repeats: repeats.pairs)), quantity="params"),
    # attention with heads
    attention("times-heads",
              "counts the matrices of the attention once for each head, but each holds all heads together",
              in_layers(changes.times_heads, Transform)),
    attention("whole-heads",
              "gives each head the whole width, as key_dim = m does in Keras, instead of a part of the width",
            in_layers(partial(changes.with_heads, whole=True), Transform)),
    attention("parts-of-width", "gives each head its part of the width, as PyTorch does, instead of a size of its own",
            in_layers(partial(changes.with_heads, whole=False), Transform)),
    projections("no-output-projection", "forgets the projection of the attention's output",
            in_layers(without_other("output", "output_bias"))),
    projections("one-projection", "counts one matrix for queries, keys and values together",
            in_layers(without_other("key", "key_bias", "value", "value_bias"))),
    biases("no-value-bias", "leaves out the bias of the values", in_layers(without_other("value_bias"))),
    norms("no-transformer-norms", "leaves out the two normalisations of a transformer's block",
            in_layers(without_other(*NORM_1, *NORM_2))),
    norms("one-transformer-norm", "counts one normalisation of a transformer's block and forgets the other",
            in_layers(without_other(*NORM_2))),
    norms("three-transformer-norms", "counts one normalisation too many for a transformer's block",
            in_layers(with_other("norm_3", lambda line: multiple(2, line.part("norm_2_scale"))), Transform)),
    attention("attention-alone", "counts the attention of a transformer's block alone", in_layers(
        without_other("up", "up_bias", "down", "down_bias", *NORM_1, *NORM_2), Transform)),
    biases("no-feed-forward-biases", "leaves out the biases of a transformer's dense layers",
           in_layers(without_other("up_bias", "down_bias"))),
    # layers around the cells
    kernel("kernel-of-one-step", "forgets that a filter reads several steps",
            in_layers(with_part("kernel", along("fc")), Transform)),
    kernel("no-channels", "forgets the features that a filter reads",
            in_layers(with_part("kernel", along("fk")), Transform)),
    kernel("no-groups", "ignores the groups of a convolution",
            in_layers(with_part("kernel", along("fmk")), Transform)),
    biases("bias-of-each-weight", "counts a bias for each weight of a filter",
           in_layers(with_part("bias", lambda line: line.part("kernel") or line.part("bias")), Transform)),
    biases("no-bias-around", "leaves out the biases of convolutions, normalisations and attention",
           in_layers(changes.without_biases, Transform)),
    norms("stored-counted", "counts the stored means and variances, which are no parameters here",
           in_layers(lambda line: line._replace(others={
               **line.others, **{str(tensor.role): times(tensor.params) for tensor in line.placed.buffers}}),
               Transform)),
    norms("no-stored", "leaves out the stored means and variances, which are untrained parameters here",
           in_layers(without_other(*STORED))),
    steps("steps-before-{layer}", "flattens the {steps} that reach {layer}, instead of those that leave it",
           family=families.steps_before_a_layer, quantity=""),
    steps("not-flattened", "feeds the layer above flatten with one step instead of all",
          changes.flatten_one_step, quantity=""),
    # shared weights: one set for all steps, two for two directions
    steps("times-steps", "multiplies the recurrent layers by the number of steps", in_cells(times_steps), common=True),
    steps("copy-a-step", "counts a copy of every layer for each step", in_layers(times_steps)),
    steps("layers-times-steps", "multiplies the recurrent and the dense layers by the number of steps",
          in_layers(times_steps, Cell, Dense), common=True),
    steps("times-steps-below-output", "multiplies all layers except the output by the number of steps",
          in_layers(lambda line: line if isinstance(line.layer, Output) else times_steps(line))),
    steps("output-times-steps", "counts the output layer once for each step", in_outputs(times_steps)),
    steps("steps-as-features", "takes all steps as the features of one", lambda worksheet: change_first(
        worksheet, worksheet[0].placed.part, lambda line: set_reads(line, "input", times=line.steps))),
    directions("one-direction", "forgets the second direction", in_cells(put(directions=1)), common=True),
    directions("one-direction-deeper", "feeds the next layer with one direction's units instead of both",
            feeding(changes.width_of_one_direction)),
    directions("no-second-direction", "counts as if there were no second direction",
         in_turn(feeding(changes.width_of_one_direction), in_cells(put(directions=1))), rare=True),
    directions("one-direction-in-{layer}",
               "forgets the second direction of {layer}, and feeds the next layer with half",
           family=families.one_direction_in_a_layer, single=True, by_layer=True),
    directions("concat-for-merge", "takes the two directions as concatenated, but they are merged",
            feeding(lambda below, line:
                    2 * changes.direction_width(below) if changes.concatenates(below.layer) is False else None)),
    directions("directions-twice", "counts each of the two directions twice",
            in_cells(lambda line: line._replace(directions=4) if line.directions == 2 else line)),
    directions("two-directions", "counts two directions; the network has one",
               in_cells(put(directions=2)), rare=True),
    directions("two-directions-deeper", "counts two directions and their concatenation; the network has one",
         in_turn(feeding(lambda below, line: 2 * below.placed.outputs if isinstance(
             below.layer, Cell) and not below.layer.bidirectional else None), in_cells(put(directions=2))), rare=True),
    steps("weights-times-steps",
          "multiplies the weights of the recurrent layers by the number of steps, and not their biases",
          matrices_each_step(Cell, "input", "past", "peephole"), rare=True),
    steps("recurrent-times-steps", "counts the recurrent matrices once for each step",
          matrices_each_step(Cell, "past"), rare=True),
    steps("recurrent-between-steps", "counts the recurrent matrices once between each two steps",
          matrices_each_step(Cell, "past", between=True), rare=True),
    biases("biases-times-steps", "counts the biases of the recurrent layers once for each step",
           in_cells(lambda line: with_biases(lambda count: count * line.steps)(line)), rare=True),
    steps("input-times-steps", "counts the input matrices once for each step",
          matrices_each_step(Cell, "input"), rare=True),
    steps("output-of-all-steps", "feeds the output layer with the states of all steps at once",
          matrices_each_step(Output, "input"), rare=True),
    layers("repeat-once", "counts a repeated layer once",
            in_layers(lambda line: leave_out(line) if line.placed.copy else line)),
    # biases: whether there are any, how many vectors, their size, and the convention
    biases("no-biases", "leaves out all biases", in_turn(
        in_layers(with_biases(lambda count: 0), Cell, Dense), in_layers(changes.without_biases, Transform)),
           common=True),
    biases("no-hidden-biases", "leaves out the biases of the recurrent layers",
           in_cells(with_biases(lambda count: 0)), common=True),
    biases("no-output-bias", "leaves out the bias of the output layer",
           in_outputs(with_biases(lambda count: 0)), common=True),
    Mistake("convention", "convention-{name}", "uses the convention of {names} instead of {here}",
            family=families.other_conventions, quantity="params", single=True),
    biases("two-biases", "counts two bias vectors per gate instead of one",
           in_cells(with_biases(lambda count: 2 * min(1, count))), common=True),
    biases("one-bias", "counts one bias vector per gate instead of two",
           in_cells(with_biases(lambda count: min(1, count))), common=True),
    steps("steps-for-features", "takes the number of steps for that of the features", changes.of_input(
        lambda line: line.half.steps if line.half.steps and line.width("input") != 1 else line.width("input"))),
    widths("one-input", "reads one number per step, as if there were one feature", changes.of_input(lambda line: 1)),
    biases("bias-in-each-gate", "counts a bias in every gate; some gates have none",
           in_cells(lambda line: with_biases(lambda count: count or 1)(line) if line.biases else line)),
    biases("one-bias-in-all", "counts one bias vector for all gates", in_cells(
        lambda line: line._replace(gates=tuple(
           gate._replace(biases=int(not place)) for place, gate in enumerate(line.gates))) if line.biases else line)),
    biases("scalar-biases", "counts one number for each bias", in_cells(with_bias_size(lambda line: 1))),
    biases("bias-of-inputs", "gives each bias m + h numbers",
           in_cells(with_bias_size(lambda line: line.width("input") + line.h))),
    biases("dense-bias-twice", "counts the bias of the dense layers twice",
           in_layers(with_biases(lambda count: 2 * count), Dense)),
    # layers and parts left out, or counted twice
    output("no-output", "leaves out the output layer (the softmax, if it has one)", in_outputs(leave_out), common=True),
    embedding("no-embedding", "leaves out the embedding's table", in_layers(leave_out, Embedding)),
    embedding("one-embedding", "counts one embedding for several", lambda worksheet: in_layers(
        lambda line: line if line is next(line for line in worksheet if isinstance(line.layer, Embedding))
        else leave_out(line), Embedding)(worksheet)),
    embedding("embedding-in-each-layer", "counts the embedding's table once for each recurrent layer",
           in_layers(lambda line: line._replace(times=max(1, sum(
               layer.repeat for layer in line.half.layers if isinstance(layer, Cell)))), Embedding)),
    embedding("embedding-output", "takes the output shape of the embedding, steps × width, for its count",
           in_layers(lambda line: line._replace(others={"output": times(line.steps, line.h)}) if (
               line.steps > 1) else line, Embedding)),
    layers("only-recurrent", "counts the recurrent layers alone",
            in_layers(lambda line: line if isinstance(line.layer, Cell) else leave_out(line))),
    embedding("padding-row", "counts one more row of the embedding's table, for padding",
           in_layers(with_other("padding", lambda line: times(line.h)), Embedding)),
    layers("no-encoder", "leaves out the encoder", in_layers(
            lambda line: leave_out(line) if line.placed.part == "encoder" else line)),
    layers("no-decoder", "leaves out the decoder", in_layers(
            lambda line: leave_out(line) if line.placed.part == "decoder" else line)),
    layers("no-layer", "leaves out the layer {layer}{fed}", family=families.without_each_layer, by_layer=True),
    layers("only-layer", "counts the layer {layer} alone", family=families.layers_alone, by_layer=True),
    layers("other-order", "gives the layers in the opposite order", family=families.opposite_order, single=True),
    # how many gates a cell has, and what they read
    gates("no-candidate", "counts the gates and forgets the candidate", in_cells(
        lambda line: line._replace(gates=tuple(gate for gate in line.gates if "candidate" not in gate.name)))),
    gates("gates-1", "counts the cell as a plain RNN, with 1 block", in_cells(with_gates(1, "rnn"))),
    gates("gates-3", "counts the cell as a GRU, with 3 blocks: 2 gates and the candidate",
            in_cells(with_gates(3, "gru"))),
    gates("gates-4", "counts the cell as an LSTM, with 4 blocks: 3 gates and the candidate",
            in_cells(with_gates(4, "lstm"))),
    gates("no-gate", "leaves out the {gate}", family=families.without_each_gate),
    gates("one-plain-rnn", "takes the formula of one plain RNN without biases; there are several layers",
         changes.as_one_plain_rnn, rare=True),
    gates("as-dense", "treats a recurrent layer as a dense one, h(m + 1)", in_cells(lambda line: line._replace(
        gates=(GateLine((GateInput("input", line.width("input")),), min(1, line.biases)),), others={}, directions=1))),
    recurrence("no-recurrent", "forgets the recurrent matrices", in_cells(with_width("past", lambda line: 0))),
    gates("no-input", "forgets the input matrices", in_cells(with_width("input", lambda line: 0))),
    gates("only-{matrices}", "counts {which}", family=families.matrices_alone),
    gates("shared-twice", "counts the matrices that the gates share once for each of them",
            in_cells(lambda line: changes.with_reads(line, lambda read: read._replace(shared="")))),
    gates("output-in-cell", "adds an output matrix h × h inside the cell",
            in_cells(with_other("output", lambda line: times(line.h, line.h)))),
    biases("output-and-bias-in-cell", "adds an output matrix h × h and a bias inside the cell",
           in_cells(with_other("output and bias", lambda line: times(line.h, line.h) + times(line.h)))),
    # widths of a layer's input and output
    widths("network-input-deeper", "feeds deeper layers with the network's input width",
            feeding(changes.to_hidden(lambda below, line: line.half.input))),
    widths("encoder-input", "feeds the decoder with the encoder's input width", changes.encoder_input),
    # rare, about biases
    biases("bias-of-input", "gives each bias m numbers",
           in_cells(with_bias_size(lambda line: line.width("input"))), rare=True),
    biases("scalar-output-bias", "counts one number for the bias of the output layer",
           in_outputs(with_bias_size(lambda line: 1)), rare=True),
    biases("output-bias-of-inputs", "gives the output layer's bias a number for each input instead of each unit",
           in_outputs(with_bias_size(lambda line: line.placed.inputs)), rare=True),
    biases("embedding-bias", "gives the embedding a bias",
           in_layers(with_other("bias", lambda line: times(line.h)), Embedding), rare=True),
    biases("projection-bias", "gives the projection a bias",
           in_cells(with_other("bias", lambda line: times(line.width("past") if line.part("projection") else 0))),
           rare=True),
    # rare, about parts
    embedding("taken-as-tied", "counts no output matrix, as if it were tied to the embedding",
           in_outputs(lambda line: set_reads(line, "input", width=0) if any(
               isinstance(layer, Embedding) for layer in line.half.layers) else line), rare=True),
    states("state-counted", "counts the state as parameters; a state is not learned here",
           in_cells(with_other("state", lambda line: state_of(line.placed, line.layer) if isinstance(
               line.layer, Cell) and not line.part("state") else line.part("state"))), rare=True),
    widths("packed-width", "takes the height of the stacked matrices, blocks × h, for the count",
         in_cells(with_count("gates", lambda line: times(len(line.gates), line.h))), rare=True),
    widths("units", "counts the units instead of their weights",
         in_layers(lambda line: leave_out(line)._replace(others={"units": times(line.h)}), Cell, Dense), rare=True),
    # rare, about cells
    recurrence("diagonal", "counts one recurrent weight per unit instead of a matrix",
         in_cells(with_width("past", lambda line: 1)), rare=True),
    gates("matrices-of-one-gate", "counts the matrices of one gate, and the biases of all",
         in_cells(changes.by_one_gate("input", "past")), rare=True),
    gates("input-of-one-gate", "counts one input matrix for all gates",
          in_cells(changes.by_one_gate("input")), rare=True),
    gates("recurrent-of-one-gate", "counts one recurrent matrix for all gates",
          in_cells(changes.by_one_gate("past")), rare=True),
    gates("cell-state-in-gates", "lets the gates read the cell state too, as they read h",
         in_cells(lambda line: set_reads(line, "past", times=len(line.layer.states)) if isinstance(
             line.layer, Cell) else line), rare=True),
    widths("square", "gives the gates (m + h) × (m + h) weights",
         in_cells(lambda line: line._replace(h=line.width("input") + line.width("past"))), rare=True),
    recurrence("recurrent-of-output", "lets the recurrence read the output instead of the state",
         in_cells(lambda line: set_reads(line, "past", width=line.half.output.units) if line.half.output else line),
               rare=True),
    peepholes("peepholes-counted", "adds peepholes; the cell has none",  # in all gates but the candidate
           in_cells(with_other("peepholes", lambda line: times(len(line.gates) - 1, line.h) if isinstance(
               line.layer, Cell) and len(line.layer.states) > 1 and not line.width("peephole") else ())), rare=True),
    peepholes("full-peepholes", "counts h × h weights for each peephole",
           in_cells(with_width("peephole", lambda line: line.h)), rare=True),
    peepholes("peephole-in-each-gate", "counts a peephole in the candidate too",
           in_cells(changes.peephole_in_each_gate), rare=True),
    # rare, about widths
    widths("own-width-deeper", "feeds deeper layers with as many numbers as they have units",
         feeding(changes.to_hidden(lambda below, line: line.h)), rare=True),
    widths("state-beside-input", "feeds the decoder with the encoder's state beside its input",
         changes.state_beside_input, rare=True),
    widths("swapped", "takes the inputs for the units and the units for the inputs",
           changes.swap_inputs_and_units, rare=True),
    recurrence("recurrent-of-inputs", "gives the recurrent matrices h × m weights",
         in_cells(with_width("past", lambda line: line.width("input"))), rare=True),
    recurrence("recurrent-among-inputs", "gives the recurrent matrices m × m weights",
         in_cells(changes.recurrent_among_inputs), rare=True),
    widths("input-of-units", "gives the input matrices h × h weights",
         in_cells(with_width("input", lambda line: line.h)), rare=True),
    widths("input-square", "takes m × m for the count",
         in_cells(with_count("square", lambda line: times(line.width("input"), line.width("input")))), rare=True),
    widths("widths-multiplied", "gives the gates h × (m × h) weights",
         in_cells(lambda line: changes.with_reads(line, lambda read: read._replace(
             width={"input": line.width("input") * line.width("past"), "past": 0}.get(read.source, read.width)))),
           rare=True),
    widths("products-of-widths", "multiplies the widths of neighbouring layers alone, m × h and h × n",
         in_turn(in_layers(with_biases(lambda count: 0), Cell, Dense), in_cells(with_width("past", lambda line: 0))),
           rare=True),
    widths("swapped-in-cells", "swaps inputs and units in the recurrent layers alone",
         in_cells(changes.swap_sizes), rare=True),
    gates("gates-2", "counts the cell as an MGU, with 2 blocks: 1 gate and the candidate",
         in_cells(with_gates(2, "mgu")), rare=True),
    gates("other-gates-{count}", "counts {blocks} in each cell", family=families.gate_numbers, rare=True),
    widths("letters-{one}-{other}", "exchanges the letters {one} and {other}", family=families.exchanged_letters,
            single=True),
    steps("steps-for-units", "takes the number of steps for the units", changes.steps_for_units,
          quantity="", rare=True),
    widths("widths-added", "adds the widths, m + h, instead of multiplying them",
         in_cells(with_count("widths", lambda line: times(line.h) + times(line.width("input")))), rare=True),
    widths("input-times-widths", "takes (m + h) × m for the count",
         in_cells(with_count("widths", lambda line: times(line.width("input"), line.width("input") + line.h))),
           rare=True),
    output("output-in-each-gate", "counts the output layer once for each gate of the cell",
         changes.above_cells(lambda line, gates: line._replace(times=line.times * gates)), rare=True),
    output("output-as-cell", "counts the output layer as if it were another recurrent layer",
         changes.above_cells(lambda line, gates: line._replace(gates=changes.with_recurrence(line).gates * gates)),
           rare=True),
    output("output-of-input", "feeds the output layer with the network's input",
         feeding(changes.to_output(lambda below, line: line.half.input)), rare=True),
    output("output-of-both-states", "feeds the output layer with the cell state too, not with h alone",
         feeding(changes.to_output(changes.width_of_all_states)), rare=True),
    widths("deeper-of-both-states", "feeds the next layers with the cell state too, not with h alone",
         feeding(changes.width_of_all_states), rare=True),
    output("output-of-state-and-input", "feeds the output layer with the last layer's input too",
         feeding(changes.to_output(lambda below, line: below.placed.outputs + below.placed.inputs)), rare=True),
    embedding("one-hot", "leaves out the embedding and feeds the next layer with the vocabulary",
         in_turn(
             feeding(lambda below, line: below.placed.inputs if isinstance(below.layer, Embedding) else None),
             in_layers(leave_out, Embedding)), quantity="", rare=True),
    # a mistake that explains almost any number
    output("output-width", "gives the output layer {width}", family=families.output_widths, fitted=True),
)

OF_MULTIPLY_ADDS = tuple([row._replace(quantity="multiply-adds", common=True) for row in (
    ONE_STEP._replace(change=in_layers(lambda line: line._replace(times=1) if line.times else line)),
    biases("biases", "counts a multiply-add for each bias too", in_turn(
        in_layers(lambda line: line._replace(bias_size=line.h), Cell, Dense),
        in_layers(with_repeats(lambda repeats: repeats, biases=True)))),
    pairs("all-pairs", "counts all pairs of steps, but no step reads a later one", in_layers(
        with_repeats(lambda repeats: repeats._replace(pairs=repeats.outputs * repeats.steps)))),
    pairs("no-pairs", "leaves out what each pair of steps computes: the scores and the weighted sums",
            in_layers(with_repeats(lambda repeats: repeats._replace(pairs=0)))),
    pairs("keys-each-step", "computes the keys again for each step that is output", in_layers(
        with_repeats(lambda repeats: repeats._replace(steps=repeats.outputs * repeats.steps)))),
    biases("cell-biases", "counts a multiply-add for each bias of the recurrent layers too",
            in_cells(lambda line: line._replace(bias_size=line.h))),
    peepholes("peepholes", "counts the peepholes too, but they are element-wise products", in_cells(
        with_other("peepholes", lambda line: times(sum(
            tensor.params for tensor in line.placed.tensors if tensor.role is Role.PEEPHOLE) // line.directions)))),
    embedding("embedding", "counts the embedding as a matrix product, but it reads one row of its table",
            in_layers(lambda line: line._replace(times=line.placed.uses or 1), Embedding)),
    embedding("embedding-table", "counts the embedding's parameters too, but it only reads rows of its table",
            in_layers(put(times=1), Embedding)),
    OUTPUT_EACH_STEP._replace(change=in_outputs(
        lambda line: line._replace(times=line.steps) if line.times == 1 else line)),
)])
# fmt: on
"""The mistakes in a count of multiply-adds alone, on the lines that `multiplied` returns.

Two have the names and sentences of those in a count of FLOPs, which is no sum of matrices and has no worksheet.
"""
