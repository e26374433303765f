"""A report of each kind, for the tests of what every format does with every report."""

from typing import Any

from verified import backward

from rnncalc import (
    LSTM,
    RNN,
    Member,
    Model,
    Network,
    Output,
    answer,
    compare,
    convert,
    count,
    exercise,
    explain,
    run,
    solve,
    training,
)
from rnncalc.answers.gradebook import grade_class, read_answer_file
from rnncalc.answers.grading import Grader
from rnncalc.models.files.model import FileModule, FileTensor, ModelFile, Remark, RemarkKind, TensorRole
from rnncalc.models.read import read
from rnncalc.questions.check import check
from rnncalc.questions.compare import compare_conventions, compare_same_params, dense_growth
from rnncalc.questions.counters import counters
from rnncalc.questions.explain_training import explain_training
from rnncalc.questions.operations import explain_operations, pass_operations
from rnncalc.questions.quantized import quantized
from rnncalc.questions.shapes import shapes
from rnncalc.questions.stream import stream
from rnncalc.questions.work import work
from rnncalc.reports.answer import AnswerReport, GradebookReport
from rnncalc.reports.beside import JointReport, QuantizedReport, ShapesReport, StreamReport
from rnncalc.reports.check import CheckReport
from rnncalc.reports.compare import AllocationReport, ComparisonReport, DenseGrowthReport
from rnncalc.reports.convert import ConvertReport
from rnncalc.reports.count import CountReport, FileReport, SummaryReport
from rnncalc.reports.counters import CountersReport
from rnncalc.reports.draw import Drawing
from rnncalc.reports.exercise import ExerciseLinkReport, of_exercises
from rnncalc.reports.explain import ExplanationReport, ModelsReport
from rnncalc.reports.explain_training import TrainingExplanationReport
from rnncalc.reports.operations import OperationsExplanationReport, OperationsReport
from rnncalc.reports.read import ReadReport
from rnncalc.reports.run import BackwardReport, RunReport
from rnncalc.reports.solve import SolutionReport
from rnncalc.reports.training import TrainingReport
from rnncalc.reports.vary import Variation, VaryReport
from rnncalc.reports.work import WorkReport

NETWORK = Network(input=3, layers=(LSTM(4, repeat=3), RNN(2, frozen=True)), output=Output(1), steps=2)

SMALL = Network(input=2, layers=(RNN(2),))
"""One whose wrong answers are few, for the reports that look for mistakes."""

WEIGHT = FileTensor("fc.weight", (2, 3), "float32", TensorRole.PARAMETER, list)
MEAN = FileTensor("bn.mean", (4,), "float32", TensorRole.BUFFER, list, None, "fc.weight")
FILE = ModelFile(
    *("a.pt", "pytorch", "pytorch", (WEIGHT, MEAN), (FileModule("fc", {"weight": WEIGHT}),)),
    remarks=(Remark(RemarkKind.AVERAGES, ("bn.mean",)),),
)

REPORTS: list[Any] = [
    CountReport(count(NETWORK), tensors=True, cost=True),
    FileReport("specs/a.yaml"),
    ModelsReport((Model({"a": Member(NETWORK), "b": Member(NETWORK)}),)),
    SummaryReport((("specs/a.yaml", count(NETWORK)), ("specs/b.yaml", count(NETWORK)))),
    TrainingReport(CountReport(count(NETWORK), tensors=True, cost=True), training(NETWORK, chunk=1)),
    OperationsReport(CountReport(count(NETWORK)), pass_operations(NETWORK, 2)),
    ShapesReport(CountReport(count(NETWORK)), shapes(NETWORK)),
    CountersReport(CountReport(count(NETWORK)), counters(NETWORK)),
    StreamReport(CountReport(count(NETWORK)), stream(NETWORK, 100)),
    QuantizedReport(CountReport(count(NETWORK)), quantized(NETWORK, "int8")),
    JointReport(
        CountReport(count(NETWORK)),
        (
            StreamReport(CountReport(count(NETWORK)), stream(NETWORK, 100)),
            QuantizedReport(CountReport(count(NETWORK)), quantized(NETWORK, "int8")),
        ),
    ),
    OperationsExplanationReport(pass_operations(NETWORK, 2), explain_operations(pass_operations(NETWORK, 2))),
    TrainingExplanationReport(training(NETWORK), explain_training(training(NETWORK))),
    AllocationReport(compare_conventions(NETWORK)),
    ComparisonReport(compare(NETWORK)),
    ComparisonReport(compare(NETWORK, NETWORK)),
    ComparisonReport(compare_same_params(NETWORK)),
    DenseGrowthReport(dense_growth(NETWORK, 1, 9)),
    ConvertReport(convert(NETWORK, "pytorch"), "a.npz"),
    SolutionReport(solve(lambda size: Network(input=3, layers=(RNN(size),)), 100)),
    RunReport(run(NETWORK, states=True), states=True),
    BackwardReport(backward(NETWORK), states=True),
    WorkReport(work(Network(input=1, layers=(RNN(2),), output=Output(1), steps=2))),
    ExplanationReport(explain(NETWORK)),
    AnswerReport(answer(SMALL, 8)),
    GradebookReport(grade_class(read_answer_file(b"name,answer\nAnn,1\nBen,x\n"), lambda _: Grader(SMALL))),
    of_exercises(exercise(SMALL, ask="layers")),
    ExerciseLinkReport("https://a.test/", SMALL, ("rnn_1=1..4",), 0, "total"),
    CheckReport((check(NETWORK)._replace(file="a.yaml"),)),
    ReadReport(read(FILE)),
    VaryReport("a", "", ("steps",), tuple(Variation((T,), "rnn", count(NETWORK.replace(steps=T))) for T in (1, 2))),
    Drawing(NETWORK),
    Drawing(NETWORK, "growth"),
]
