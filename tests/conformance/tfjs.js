// Runs layers of TensorFlow.js: reads JSON cases on standard input, writes their arrays and outputs.
// A case has the layer, its options, the shape of its input without the batch, and runs of weights and inputs.
const tf = require("@tensorflow/tfjs");

const results = JSON.parse(require("fs").readFileSync(0, "utf8")).map((each) => {
  let layer = tf.layers[each.layer](each.options);
  if (each.merge) layer = tf.layers.bidirectional({ layer, mergeMode: each.merge });
  layer.apply(tf.zeros([1, ...each.shape]));
  const arrays = layer.weights.map((weight) => [weight.originalName || weight.name, weight.shape]);
  const outputs = each.runs.map(([weights, flow]) => {
    layer.setWeights(weights.map((numbers, at) => tf.tensor(numbers, arrays[at][1])));
    return layer.apply(tf.tensor([flow])).arraySync()[0];
  });
  return { arrays, outputs, params: layer.countParams() };
});
console.log(JSON.stringify(results));
