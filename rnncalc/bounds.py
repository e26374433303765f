"""The bounds on what is read and worked out, each with its reason.

How much of a report a table, a line or a picture has room for is said where that is laid out.
"""

# What a spec may say

MAX_LAYERS = 1_000
"""The layers of a half after `repeat`, the output layer not counted.

No recurrent network that is used comes near it. With this bound every layer is a layer of its own in every record, pass
and report, and no report needs a bound of its own on layers.
"""

MAX_SIZE = 10**12
"""A size: above that of any network, and what is multiplied from a few still fits a line."""

MAX_TEXT = 200
"""The characters of a name: longer ones make tables that nobody reads."""

MAX_DIGITS = 40
"""The digits of a number: longer than any number that is meant, and Python reads long ones slowly."""

# What is read of a file

MAX_BYTES = 10_000_000
"""A spec of more bytes is refused unread: its nodes would take the memory."""

MAX_NODES = 1_500_000
"""The words, lists and mappings of a spec: numbers to run with, in a file as long as may be, are fewer."""

MAX_DEPTH = 32
"""Lists and mappings within each other: a spec has a few, and each is a call within a call."""

MAX_ALIASED = 100_000
"""The nodes that all aliases of a spec together stand for: a few lines could stand for billions."""

MAX_REPORT_BYTES = 30_000_000
"""The bytes of a baseline: a thousand networks of ten layers print less."""

MOST_PROBLEMS = 100
"""The problems of one input that are told: who meets more of them stops, and says that there are more."""

MOST_FINDINGS = 500_000
"""The limits and problems of all files that are checked together: more would take the memory."""

# Where what was meant is looked for

MOST_GUESSED = 1_000
"""The words, the first, that a misspelt one is compared with: to compare with each is slow."""

MOST_IN_FOLDER = 1_000
"""The names of a folder that a misspelt one is compared with."""

MOST_IN_BRACKETS = 100_000
"""The characters of a file in brackets that are looked through for its keys, if it is no YAML."""

MOST_ABOVE, LONGEST_ABOVE = 10_000, 1_000
"""The lines above a place where YAML is refused that are looked at, and the characters of each."""

# How long a pass may be

MOST_MULTIPLY_ADDS = 500_000_000
"""The multiply-adds of a pass, where a call does not say: plain Python does them in some ten seconds."""

MOST_BYTES = 2 * 10**9
"""What a pass holds at its fullest: most machines have it."""

MOST_STATE_BYTES = 150_000_000
"""The states of all steps: a report of them takes as much again, and nobody reads it whole."""

MOST_DIFFERENCES = 200
"""The weights whose gradients are held against finite differences: each takes two passes."""

MOST_WORKED, MOST_WORKED_IN_ALL = 200, 5_000
"""The numbers of a step, and of all steps, that are worked by hand: who reads a pass follows no more."""

MOST_TERMS = 500
"""The steps of a sum over k that are written out: its terms grow with their square."""

# How long an answer is looked for

MOST_COUNTED = 500_000
"""The layers that are counted in all while `solve` looks for a size: some ten seconds' worth."""

MOST_MODULES = 2_000
"""The modules of a model file that are drafted as layers, or held against those of a spec."""

MOST_COMPARED = 400
"""The layers that fit no module exactly and are compared with each: more are paired as they stand."""

MOST_ANSWERS = 2_500
"""The numbers or shapes of one answer: one for each layer of the deepest network that a spec can have."""

MOST_EXPLAINED = 100
"""The wrong numbers of one answer whose mistakes are looked for: nobody reads more, and each costs a search."""

MOST_STUDENTS = 100_000
"""The rows of a file of answers: more than any course has, and each is a record here."""

MOST_EXERCISES = 1_000
"""The variants of an exercise: more than a course has students, and each costs a search."""

MOST_LEARNED = 20
"""The ways of counting, learned from wrong numbers, that later numbers are held against."""

MOST_JUDGED = 100
"""Larger networks are judged by the likelier mistakes, made in all layers, only: the others would take long."""

MOST_LINES_PAIRED = 10
"""On a worksheet of more lines only pairs of the likelier mistakes are tried, above MOST_JUDGED none."""

MOST_SIZED = 30
"""In a spec of more layers, a `repeat` counted once, no size that would give a number is looked for: each takes forty
tries.
"""

# What is read of a model file

MOST_TENSORS = 50_000
"""The tensors of a file: each is a record here, and is held against every layer of its kind."""

MOST_AXES, MOST_AXIS = 32, 2**48
"""The axes of a tensor, and a size, a stride or a place of one: what has more is damaged."""

MOST_NAME = 1_000
"""The characters of a tensor's name: names are built of those above them, and would take the memory."""

MOST_SETTING = 100
"""The characters of a word that may be a setting of a layer: longer ones are none that a layer of a spec has."""

MOST_HEADER, MOST_INDEX = 8_000_000, 8_000_000
"""The bytes of a safetensors header, some 80,000 tensors, and of an index of several files."""

MOST_LISTED, MOST_INFLATED = 16_000_000, 64_000_000
"""The bytes of an archive's list of contents, some 150,000 files, and of its contents unpacked."""

MOST_PICKLE, MOST_OPCODES = 64_000_000, 1_000_000
"""The bytes and the steps of a pickle, some 20,000 tensors with an optimizer's: more takes the memory, and minutes."""

MOST_PICKLE_DEPTH = 100
"""The objects of a pickle within each other: each is a call within a call."""

MOST_CONFIG, MOST_CONFIG_DEPTH = 8_000_000, 20
"""The bytes of a Keras configuration, and its layers within each other: models of models are two or three deep."""

MOST_GROUPS, MOST_GROUP_DEPTH = 20_000, 40
"""The arrays, groups and links of an HDF5 file (each takes h5py 0.2 ms), and the depth of its groups."""

MOST_ATTRIBUTE = 8_000_000
"""The bytes of an HDF5 attribute: longer than any that Keras writes."""

MOST_FIELDS = 600_000
"""The fields of all messages of an ONNX file: each takes some microseconds."""

MOST_PACKED_READ, MOST_PACKED_COUNTED = 10_000, 50_000_000
"""The bytes of whole numbers in a row in ONNX that are read, and that are counted."""

MOST_BIASES, MOST_BIASES_IN_ALL = 100_000, 1_000_000
"""The numbers of a bias in ONNX, and of all, that are looked at for zeros and copies: each is unpacked."""

MOST_FOLLOWED = 1_000
"""The matrices of an ONNX graph that several products read and that are followed through it: each takes a search."""
