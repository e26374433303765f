// Reads GIFT from standard input, and writes the questions as JSON.
const { parse } = require("gift-pegjs");
process.stdout.write(JSON.stringify(parse(require("fs").readFileSync(0, "utf8"))));
