// Runs the JavaScript device for tests: reads tasks as JSON from standard input, in node, or from a page, in a browser.
"use strict";

// The same stream of bytes as tests/reports.py has: SHA-256 of the seed and a counter, again and again.
const streamOf = (device, seed) => {
  let waiting = [], counter = 0;
  return (count) => {
    while (waiting.length < count) {
      const hex = device.sha256(`${seed}:${counter}`);
      counter += 1;
      for (let i = 0; i < 64; i += 2) waiting.push(parseInt(hex.slice(i, i + 2), 16));
    }
    return Uint8Array.from(waiting.splice(0, count));
  };
};
const streamOfWords = (words) => {
  const bytes = words.flatMap((word) => [Math.floor(word / 2 ** 24), (word >>> 16) & 255, (word >>> 8) & 255, word & 255]);
  return (count) => { const part = bytes.splice(0, count); while (part.length < count) part.push(0); return Uint8Array.from(part); };
};
const rowOf = (row) => (Array.isArray(row) ? row.map((x) => (typeof x === "string" && x.startsWith("!") ? Number(x.slice(1)) : x)) : row);

const runTasks = (device, tasks) => tasks.map((task) => {
  if (task.amounts) return device[task.check](...task.numbers, ...task.amounts.map(device.readAmount));
  const state = JSON.parse(JSON.stringify(task.state));
  const entropy = task.words ? streamOfWords([...task.words]) : task.seed === null ? undefined : streamOf(device, task.seed);
  const message = device.respond(rowOf(task.row), task.question, task.policy, state, ...(entropy ? [entropy] : []));
  return task.again ? [message, state, device.respond(null, task.question, task.policy, state)] : [message, state];
});

if (typeof module !== "undefined" && require.main === module) {
  const device = require(process.argv[2]);
  const tasks = JSON.parse(require("fs").readFileSync(0, "utf8"));
  process.stdout.write(JSON.stringify(runTasks(device, tasks)));
}
