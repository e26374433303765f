"""The limits on what is read and computed, each with its reason.

Limits on the layout of tables, lines and pictures are in the modules that write them.
"""

# What a spec may say

MAX_LAYERS = 1_000
"""The layers of a network or half after `repeat`, without the output layer.

No recurrent network in use comes near it. So each layer can be a layer of its own in every record, pass and report, and
no report needs a limit of its own on layers.
"""

MOST_NETWORKS = 100
"""The networks of a model: a table of more is not read."""

MAX_SIZE = 10**12
"""A size: no network has larger ones, and a product of a few still fits on a line."""

MOST_LETTERS = 30
"""The letters among the sizes of a network: nobody reads a formula with more, and sums grow with their square."""

MOST_SIZES = 100
"""The sizes that a spec names: nobody needs as many, and each may be made of the one before."""

MAX_TEXT = 200
"""The characters of a name: longer ones make tables that nobody reads."""

MAX_DIGITS = 40
"""The digits of a number: no real number is longer, and Python reads long ones slowly."""

# What is read of a file

MAX_BYTES = 10_000_000
"""The bytes of a spec: the nodes of a larger one would use up the memory."""

MAX_NODES = 1_500_000
"""The words, lists and mappings of a spec: the numbers for a run, in the longest file, are fewer."""

MAX_DEPTH = 32
"""The nesting depth of lists and mappings: a spec has a few levels, and each is a recursive call."""

MAX_ALIASED = 100_000
"""The nodes that all aliases of a spec expand to: a few lines could expand to billions."""

MAX_REPORT_BYTES = 30_000_000
"""The bytes of a baseline: a thousand networks of ten layers print less."""

MOST_PROBLEMS = 100
"""The problems of one input that are reported; the last line then says that there are more."""

MOST_FINDINGS = 500_000
"""The limits and problems of all files that are checked together: more would use up the memory."""

# Where what was meant is looked for

MOST_GUESSED = 1_000
"""The known words that a misspelt one is compared with: comparing it with all of them is slow."""

MOST_IN_FOLDER = 1_000
"""The names of a folder that a misspelt one is compared with."""

MOST_IN_BRACKETS = 100_000
"""The characters that are searched for keys if a file in brackets is not valid YAML."""

MOST_ABOVE, LONGEST_ABOVE = 10_000, 1_000
"""If YAML is refused: the lines above that are looked at, and the characters of each."""

# How long a pass may be

MOST_MULTIPLY_ADDS = 1_000_000_000
"""The multiply-adds of a pass unless a call says otherwise: about twenty seconds in plain Python."""

MOST_BYTES = 2 * 10**9
"""The bytes that a pass may need: most machines have as many."""

MOST_STATE_BYTES = 150_000_000
"""The bytes of the states of all steps: a report of them takes as much again."""

ENOUGH_DIFFERENCES, MOST_DIFFERENCES = 50, 200
"""The weights whose gradients are compared with finite differences, each in two passes: as many as there are tensors,
if that is more than enough, up to a limit."""

MOST_WORKED, MOST_WORKED_IN_ALL = 200, 5_000
"""The numbers of a step, and of all steps, that are worked by hand: nobody follows more."""

MOST_TERMS = 500
"""The steps of a sum over k that are written out: its terms grow with their square."""

# How long an answer is looked for

MOST_COUNTED = 500_000
"""The layers that `solve` counts in total while it searches for a size: about ten seconds."""

MOST_DIVISORS = 1_000
"""The groups or heads for which sizes that they divide are looked for: each step is two tries."""

MOST_MODULES = 2_000
"""The modules of a model file that are drafted as layers, or compared with a spec."""

MOST_ORDERED, MOST_PLACES = 60, 20_000
"""The layers of a file without order whose every order is looked for, and the places in such orders: about 0.1 s."""

MOST_COMPARED = 400
"""The layers without an exactly fitting module that are compared with each module; more are paired in order."""

MOST_ANSWERS = 2_500
"""The numbers or shapes of one answer: one for each layer of the deepest network that a spec can have."""

LONGEST_ANSWER = 10_000
"""The characters of an answer: a formula of a network of two hundred layers has fewer, and is read in 0.2 s."""

MOST_SIDES = 100
"""The sides of a chain of equations: each is computed and compared, and a page of a student's has fewer."""

MOST_BRACKETS = 30
"""The brackets of a formula in one another: each is three recursive calls, and nobody follows more."""

MOST_RESTS = 64
"""The sizes with which a quotient is tried: half of T(T + 1) is whole for an even T, and for an odd one."""

MOST_DEGREE, MOST_PRODUCTS = 20, 20_000
"""The letters in one product, and the products of two terms, of a formula: a power of a power, or of a long sum, grows
faster than it is written. A count multiplies three or four sizes; so many products take 0.1 s.
"""

MOST_EXPLAINED = 100
"""The wrong numbers of one answer whose mistakes are looked for: nobody reads more, and each costs a search."""

MOST_STUDENTS = 100_000
"""The rows of a file of answers: more than any course has, and each is a record here."""

MOST_VARIED = 2_000
"""The combinations of sizes that `--vary` counts: a table has as many rows."""

MOST_EXERCISES = 1_000
"""The variants of an exercise: more than a course has students, and each costs a search."""

MOST_LAYERS_VARIED = 2_000
"""The layers of all variants of an exercise: the search for mistakes takes 2 to 10 ms for each."""

MOST_WRONG, MOST_WRONG_LINES = 200, 5_000
"""The known wrong answers of one question of an exercise, and the layers that all of them count: the feedback on each
takes 0.1 ms a layer."""

MOST_LEARNED = 20
"""The wrong ways of counting, found for earlier numbers, that are tried for later ones first."""

MOST_JUDGED = 100
"""The size above which only the likelier mistakes, made in all layers, are tried: the others would take long."""

MOST_BY_CHANCE = 25
"""A mistake is a guess if more than one in so many of the numbers near an answer have an explanation as likely."""

MOST_LINES_PAIRED = 5
"""The lines of a worksheet up to which all pairs of mistakes are tried, a second's work at most; above, only pairs of
likelier ones, and above MOST_JUDGED none."""

MOST_SIZED = 30
"""The layers, a `repeat` counted once, up to which sizes that would give a number are searched for: each takes forty
tries.
"""

# What is read of a model file

MOST_TENSORS = 50_000
"""The tensors of a file: each is compared with every layer of its kind."""

MOST_AXES, MOST_AXIS = 32, 2**48
"""The axes of a tensor, and the largest size, stride or offset: a file with more is damaged."""

MOST_NAME = 1_000
"""The characters of a tensor's name: names contain those of the modules above, and would use up the memory."""

MOST_SETTING = 100
"""The characters of a layer's setting: no setting that a spec can have is longer."""

MOST_HEADER, MOST_INDEX = 8_000_000, 8_000_000
"""The bytes of a safetensors header, some 80,000 tensors, and of an index of several files."""

MOST_LISTED, MOST_INFLATED = 16_000_000, 64_000_000
"""The bytes of an archive's list of contents, some 150,000 files, and of its contents unpacked."""

MOST_PICKLE, MOST_OPCODES = 64_000_000, 1_000_000
"""The bytes and opcodes of a pickle, some 20,000 tensors with an optimizer's: more would take minutes."""

MOST_PICKLE_DEPTH = 100
"""The nesting depth of a pickle's objects: each level is a recursive call."""

MOST_CODE, MOST_CODE_DEPTH = 8_000_000, 100
"""The bytes of the code in an archive of TorchScript, and the nesting depth of its calls."""

MOST_FOREIGN = 100
"""The classes of other programs that are named of a pickle."""

MOST_CONFIG, MOST_CONFIG_DEPTH = 8_000_000, 20
"""The bytes of a Keras configuration, and the nesting depth of its layers: real models have two or three levels."""

MOST_GROUPS, MOST_GROUP_DEPTH = 20_000, 40
"""The arrays, groups and links of an HDF5 file (each takes h5py 0.2 ms), and the depth of its groups."""

MOST_ATTRIBUTE = 8_000_000
"""The bytes of an HDF5 attribute: longer than any that Keras writes."""

MOST_FIELDS = 600_000
"""The fields of all messages of an ONNX file: each takes some microseconds."""

MOST_PACKED_READ, MOST_PACKED_COUNTED = 10_000, 50_000_000
"""The bytes of packed whole numbers in ONNX that are read, and that are counted."""

MOST_SEARCHED = 1_000_000
"""The numbers of a file that are searched for zeros, copies, masks and sines: each is unpacked."""

MOST_FOLLOWED = 1_000
"""The matrices of an ONNX graph that several products read: each takes a search through the graph."""

MOST_MOVED, MOST_MOVES = 300_000_000, 100
"""The numbers that are moved to make one weight of an ONNX graph, and the operators that do so, one after another."""

MOST_WITHIN = 20
"""The nesting depth of branches and loops of an ONNX graph: each is a recursive call, and exporters write a few."""

MOST_COMPARED_NUMBERS = 50_000_000
"""The numbers of an ONNX file that are searched for copies of matrices: a second's work."""
