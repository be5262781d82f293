// What runs in a user's browser in the local model: one file without dependencies. It is device.py in JavaScript, question for
// question and byte for byte: docs/local.md has the format, and both are tested against the same vectors.
//
// The server is not trusted: every argument of a question is checked against the policy before the row is read, what was spent is
// summed, and a question that was answered before gets its stored report again. The state must be safe before a message is sent, is
// never put back to an older one, and is used by one tab or worker at a time: docs/local.md says how.
"use strict";

const spinney = (() => {
  // Probabilities are whole numbers of 1 / WORDS, values of offsets of 1 / FINE, and exponentials of 2^-PLACES.
  const WORDS = 2 ** 32, FINE = 2 ** 20, PLACES = 128n;
  // Numbers are not more, so that squared distances are exact.
  const MOST_COLUMNS = 1024, MOST_STEPS = 2 ** 20, WIDEST = 2 ** 25, LARGEST = Number.MAX_SAFE_INTEGER;
  const LONGEST = 4000000;
  const HEAD = ["format", "id", "kind", "epsilon", "delta", "domain", "group", "noise"];
  const KINDS = {
    cells: ["shape"],
    regions: ["centers", "radii"],
    offsets: ["centers", "radii", "reaches", "kernel", "bins"],
    cost: ["first", "second", "power", "range"],
    sums: ["centers", "radii", "reaches", "anchors", "resolution"],
  };
  const TEXT = /^[ -~]{0,200}$/;
  const NUMBER = /^-?[0-9]{1,40}(\.[0-9]{1,60})?([eE][+-]?[0-9]{1,3})?$/;
  const SHAPE = /^(0|1[01]{2,200000})$/;
  const AMOUNT = /^[0-9]{1,60}(\/[0-9]{0,30}[1-9][0-9]{0,30})?$/;

  // What stands outside the texts of a question, whose brackets are nested so deep at most; no number has 17 digits.
  const OUTSIDE = /^[-0-9{}[\],:" \t\r\n]*$/, LONG = /[0-9]{17}/, DEEPEST = 3;
  const BROKEN = "the policy or the state is broken";

  class Refusal extends Error {}

  const require_ = (holds, reason) => { if (!holds) throw new Refusal(reason); };
  const own = (value, name) => (Object.prototype.hasOwnProperty.call(value, name) ? value[name] : undefined);
  const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const hasOnly = (value, names) =>
    isRecord(value) && Object.keys(value).length === names.length && names.every((name) => own(value, name) !== undefined);
  const are = (pattern, ...values) => values.every((value) => typeof value === "string" && pattern.test(value) && !value.includes("\n"));
  const isWhole = (value, low, high) => Number.isSafeInteger(value) && value >= low && value <= high;
  const areWhole = (values, low, high, count) =>
    Array.isArray(values) && (count === undefined || values.length === count) && values.every((value) => isWhole(value, low, high));
  const arePoints = (values, d, count) =>
    Array.isArray(values) && values.length >= 1 && (count === undefined || values.length === count) &&
    values.every((one) => areWhole(one, -MOST_STEPS, 2 * MOST_STEPS, d));

  const count_ = (text, mark, start, end) => {
    let found = 0;
    for (let i = start; i < end; i++) if (text[i] === mark) found += 1;
    return found;
  };
  // How often the smallest cells were halved, or -1 if these are not the cells of a tree, level by level.
  const depthOf = (shape) => {
    let start = 0, end = 1, depth = -1;
    while (start < end && end <= shape.length) {
      [start, end] = [end, end + 2 * count_(shape, "1", start, end)];
      depth += 1;
    }
    return start === end && end === shape.length ? depth : -1;
  };
  // The JSON in a text, null if it is none that every language reads alike: no escapes, and outside texts only whole numbers of
  // at most 16 digits and brackets of at most three levels. Some readers take 1.0 for 1, and some know NaN.
  const parsed = (text) => {
    const outside = text.split('"').filter((_, i) => i % 2 === 0).join('"');
    let depth = 0, deepest = 0;
    for (const mark of outside) {
      if (mark === "[" || mark === "{") depth += 1;
      if (mark === "]" || mark === "}") depth -= 1;
      deepest = Math.max(deepest, depth);
    }
    if (text.includes("\\") || !OUTSIDE.test(outside) || LONG.test(outside) || deepest > DEEPEST) return null;
    try { return JSON.parse(text); } catch { return null; }
  };
  // Exact fractions: [numerator, denominator].
  const readAmount = (value) => {
    require_(are(AMOUNT, value), "an amount");
    const [above, below] = value.split("/");
    return [BigInt(above), BigInt(below === undefined ? 1 : below)];
  };
  const atMost = (first, second) => first[0] * second[1] <= second[0] * first[1];
  const plus = (first, second) => [first[0] * second[1] + second[0] * first[1], first[1] * second[1]];

  const readDomain = (value) => {
    require_(hasOnly(value, ["lower", "step", "steps"]), "its domain");
    const { steps, lower: texts } = value;
    require_(areWhole(steps, 1, MOST_STEPS) && Array.isArray(texts), "its domain");
    require_(texts.length >= 1 && texts.length === steps.length && steps.length <= MOST_COLUMNS, "its domain");
    require_(are(NUMBER, ...texts, value.step), "its domain");
    const lower = texts.map(Number), step = Number(value.step);
    const all = [...lower, ...lower.map((low, i) => low + step * steps[i]), step];
    require_(step > 0 && all.every(Number.isFinite), "its domain");
    return { lower, step, steps };
  };

  // A whole number of 2^-PLACES that is at most e^(above / below): the series, each term rounded down.
  const expBelow = (above, below) => {
    let total = 1n << PLACES, term = total, count = 0n;
    while (term) {
      count += 1n;
      term = (term * above) / (below * count);
      total += term;
    }
    return total;
  };
  const isLawfulThreshold = (threshold, epsilon) => {
    const [above, below] = atMost(epsilon, [64n, 1n]) ? epsilon : [64n, 1n];
    return threshold >= 1 && threshold < WORDS / 2 &&
      BigInt(WORDS - threshold) << PLACES <= BigInt(threshold) * expBelow(above, below);
  };
  const isLawfulGaussian = (resolution, variance, order, epsilon, delta) => {
    const [s, v, a] = [BigInt(resolution), BigInt(variance), BigInt(order)];
    const above = (a - 1n) * (epsilon[0] * v - 2n * a * s * s * epsilon[1]), below = epsilon[1] * v;
    if (above < 0n || above > 2048n * below || delta[0] >= delta[1]) return false;
    return ((a - 1n) ** (a - 1n) * delta[1]) << PLACES <= delta[0] * a ** a * expBelow(above, below);
  };

  const checkKind = (asked, d) => {
    const count = Array.isArray(asked.centers) ? asked.centers.length : 0;
    if (asked.kind === "cells") {
      require_(are(SHAPE, asked.shape) && depthOf(asked.shape) >= 0, "its cells");
    } else if (asked.kind === "cost") {
      const holds = arePoints(asked.first, d) && arePoints(asked.second, d) && isWhole(asked.range, 1, LARGEST);
      require_(holds && isWhole(asked.power, 1, 2), "its cost");
    } else {
      require_(arePoints(asked.centers, d) && areWhole(asked.radii, 0, WIDEST, count), "its regions");
    }
    require_(own(asked, "reaches") === undefined || areWhole(asked.reaches, 1, WIDEST, count), "its reaches");
    const isKernel = asked.kernel === "mean" || asked.kernel === "median";
    require_(asked.kind !== "offsets" || (isKernel && isWhole(asked.bins, 2, 64)), "its kernel");
    if (asked.kind === "sums") require_(arePoints(asked.anchors, d, count) && isWhole(asked.resolution, 1, FINE), "its anchors");
  };
  const checkNoise = (asked) => {
    const { noise } = asked, epsilon = readAmount(asked.epsilon), delta = readAmount(asked.delta), isSums = asked.kind === "sums";
    require_(hasOnly(noise, isSums ? ["variance", "order"] : ["threshold"]) && epsilon[0] > 0n, "its noise");
    require_(Object.values(noise).every((value) => isWhole(value, 1, 2 ** 50)), "its noise");
    require_(!isSums || (noise.order >= 2 && noise.order <= 4096), "its noise");
    const holds = isSums
      ? isLawfulGaussian(asked.resolution, noise.variance, noise.order, epsilon, delta)
      : delta[0] === 0n && isLawfulThreshold(noise.threshold, epsilon);
    require_(holds, "its noise is smaller than it promises");
  };
  const slotsOf = (asked) => {
    if (asked.kind === "cells") return count_(asked.shape, "0", 0, asked.shape.length);
    if (asked.kind === "cost") return 1;
    return asked.centers.length * { regions: 1, offsets: asked.bins, sums: asked.domain.steps.length }[asked.kind];
  };
  const readQuestion = (text) => {
    require_(typeof text === "string" && text.length <= LONGEST && /^[\0-\x7f]*$/.test(text), "it is no text, or too long");
    const asked = parsed(text);
    require_(isRecord(asked) && own(asked, "format") === "spinney-question/1", "it is no question of this format");
    require_(typeof own(asked, "kind") === "string" && own(KINDS, asked.kind) !== undefined, "its kind is unknown");
    require_(hasOnly(asked, [...HEAD, ...KINDS[asked.kind]]), "its fields are others");
    const { group } = asked;
    require_(hasOnly(group, ["salt", "parts", "first", "last"]), "its group");
    require_([group.first, group.last, group.parts].every((value) => isWhole(value, 0, 65536)), "its group");
    require_(group.first < group.last && group.last <= group.parts, "its group");
    require_(are(TEXT, asked.id, group.salt), "its texts");
    checkKind(asked, readDomain(asked.domain).steps.length);
    checkNoise(asked);
    return asked;
  };

  // JSON with sorted names and no spaces; all texts are printable ASCII and all numbers whole.
  const canonical = (value) => {
    if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
    if (!isRecord(value)) return JSON.stringify(value);
    return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
  };
  // SHA-256 of ASCII text, in hexadecimal: browsers offer theirs only as a promise, and only on secure pages.
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
  const fraction = (number) => Math.floor((number - Math.floor(number)) * WORDS) >>> 0;
  const K = primes.map((p) => fraction(Math.cbrt(p)));
  const sha256 = (text) => {
    const bytes = Array.from(text, (one) => one.charCodeAt(0)), size = bytes.length;
    bytes.push(128);
    while (bytes.length % 64 !== 56) bytes.push(0);
    for (const half of [Math.floor((size * 8) / WORDS), (size * 8) >>> 0]) bytes.push(half >>> 24, (half >>> 16) & 255, (half >>> 8) & 255, half & 255);
    const h = primes.slice(0, 8).map((p) => fraction(Math.sqrt(p))), w = new Array(64), turn = (x, n) => (x >>> n) | (x << (32 - n));
    for (let start = 0; start < bytes.length; start += 64) {
      for (let i = 0; i < 16; i++) w[i] = (bytes[start + 4 * i] << 24) | (bytes[start + 4 * i + 1] << 16) | (bytes[start + 4 * i + 2] << 8) | bytes[start + 4 * i + 3];
      for (let i = 16; i < 64; i++) {
        const x = w[i - 15], y = w[i - 2];
        w[i] = (w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + w[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10))) | 0;
      }
      let [a, b, c, d, e, f, g, last] = h;
      for (let i = 0; i < 64; i++) {
        const one = (last + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
        const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [a, b, c, d, e, f, g, last] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
      }
      [a, b, c, d, e, f, g, last].forEach((value, i) => { h[i] = (h[i] + value) | 0; });
    }
    return h.map((value) => (value >>> 0).toString(16).padStart(8, "0")).join("");
  };
  const digestOf = (asked) => sha256(canonical(asked));
  const isAsked = (group, token) => {
    const number = parseInt(sha256(`${group.salt}:${token}`).slice(0, 8), 16) % group.parts;
    return group.first <= number && number < group.last;
  };

  const readPolicy = (policy) => {
    require_(isRecord(policy), BROKEN);
    const all = (...names) => names.map((name) => own(policy, name)), kinds = own(policy, "kinds");
    require_(are(AMOUNT, ...all("epsilon", "delta", "question_epsilon", "question_delta")), BROKEN);
    require_(areWhole(all("most_slots", "widest_radius", "most_questions"), 0, LARGEST), BROKEN);
    require_(Array.isArray(kinds) && are(TEXT, ...kinds) && isRecord(own(policy, "domain")), BROKEN);
    return policy;
  };
  // A device's token, drawn at its first use, and the reports that it sent.
  const readState = (state, entropy) => {
    require_(isRecord(state), BROKEN);
    if (own(state, "reports") === undefined) state.reports = {};
    require_(isRecord(state.reports), BROKEN);
    for (const one of Object.values(state.reports)) {
      require_(isRecord(one) && are(AMOUNT, own(one, "epsilon"), own(one, "delta")) && typeof own(one, "report") === "string", BROKEN);
    }
    const token = own(state, "token");
    if (token === undefined || token === null || token === "") {
      state.token = Array.from(entropy(16), (byte) => byte.toString(16).padStart(2, "0")).join("");
    }
    require_(are(TEXT, state.token), BROKEN);
    return [state.token, state.reports];
  };
  const checkPolicy = (asked, policy, reports) => {
    require_(canonical(asked.domain) === canonical(policy.domain), "the policy has another domain");
    require_(policy.kinds.includes(asked.kind), "the policy does not allow this kind");
    const points = Math.max(...["centers", "first", "second"].map((name) => (own(asked, name) || []).length));
    require_(Math.max(slotsOf(asked), points) <= policy.most_slots, "the policy allows fewer slots");
    const widest = [...(own(asked, "reaches") || []), ...(own(asked, "radii") || [])];
    require_(widest.every((radius) => radius <= policy.widest_radius), "the policy allows no radius so wide");
    require_(Object.keys(reports).length < policy.most_questions, "the policy allows no more questions");
    for (const name of ["epsilon", "delta"]) {
      const more = readAmount(asked[name]);
      require_(atMost(more, readAmount(policy[`question_${name}`])), `the policy allows less ${name} for a question`);
      const spent = Object.values(reports).reduce((sum, one) => plus(sum, readAmount(one[name])), more);
      require_(atMost(spent, readAmount(policy[name])), `the ceiling of ${name} is reached`);
    }
  };

  // A row as a point of the grid: clipped, or the middle if anything in it is missing or no number.
  const place = (row, { lower, step, steps }) => {
    let values = [];
    try { values = Array.from(row, (x) => (typeof x === "number" ? x : NaN)); } catch { /* the middle */ }
    if (values.length !== steps.length || !values.every(Number.isFinite)) return steps.map((count) => Math.floor(count / 2));
    return values.map((x, i) => {
      const inside = Math.min(Math.max(x, lower[i]), lower[i] + step * steps[i]);
      return Math.min(Math.floor((inside - lower[i]) / step), steps[i] - 1);
    });
  };

  const square = (point, center) => point.reduce((sum, x, i) => sum + (x - center[i]) * (x - center[i]), 0);
  const root = (number) => {  // of a whole number, rounded down
    let found = Math.floor(Math.sqrt(number));
    while (found * found > number) found -= 1;
    while ((found + 1) * (found + 1) <= number) found += 1;
    return found;
  };
  const regionOf = (point, asked) => {
    const squares = asked.centers.map((center) => square(point, center));
    const nearest = squares.reduce((best, one, i) => (one < squares[best] ? i : best), 0);
    return squares[nearest] <= asked.radii[nearest] ** 2 ? nearest : -1;
  };
  // The number of a point's cell: the shape tells level by level which cells are halved, in their widest columns. There are as
  // many steps for every row: one that is in its cell already stays there.
  const leafOf = (point, asked) => {
    const { shape } = asked, low = point.map(() => 0), width = [...asked.domain.steps], ones = [0];
    for (let i = 0; i < shape.length; i++) ones.push(ones[i] + Number(shape[i] === "1"));
    let node = 0;
    for (let step = depthOf(shape); step > 0; step--) {
      const column = width.indexOf(Math.max(...width)), half = Math.floor(width[column] / 2);
      const isAbove = point[column] >= low[column] + half;
      low[column] += half * Number(isAbove);
      width[column] = [half, width[column] - half][Number(isAbove)];
      node = [node, 2 * ones[node] + 1 + Number(isAbove)][Number(shape[node] === "1")];
    }
    return node - ones[node];
  };
  const longestOf = (point, center, reach) => {
    const length = square(point, center);
    return Math.max(length ? root(length - 1) + 1 : 0, reach);
  };
  const scaled = (number, by, length) => Number((BigInt(number) * BigInt(by)) / BigInt(length));  // toward zero
  const offsetOf = (point, region, column, asked) => {
    const center = asked.centers[region], reach = asked.reaches[region];
    const longest = asked.kernel === "mean" ? reach : longestOf(point, center, reach);
    if (column === point.length) return scaled(reach, FINE, longest);
    return scaled(Math.min(Math.max(point[column] - center[column], -longest), longest), FINE, longest);
  };

  const systemEntropy = (count) => {
    const bytes = new Uint8Array(count);
    for (let start = 0; start < count; start += 65536) globalThis.crypto.getRandomValues(bytes.subarray(start, start + 65536));
    return bytes;
  };
  class Entropy {
    constructor(draw) { this.draw = draw; this.bytes = new Uint8Array(0); this.at = 0; }
    take(count) {
      if (this.at + count > this.bytes.length) {
        this.bytes = Uint8Array.from([...this.bytes.subarray(this.at), ...this.draw(Math.max(count, 512))]);
        this.at = 0;
      }
      this.at += count;
      return this.bytes.subarray(this.at - count, this.at);
    }
    words(count) {
      const bytes = this.take(4 * count), found = [];
      for (let i = 0; i < count; i++) found.push(bytes[4 * i] * 2 ** 24 + (bytes[4 * i + 1] << 16) + (bytes[4 * i + 2] << 8) + bytes[4 * i + 3]);
      return found;
    }
    below(bound) {
      const bits = bound === 1n ? 0 : (bound - 1n).toString(2).length, size = Math.ceil(bits / 8);
      for (;;) {
        let number = 0n;
        for (const byte of this.take(size)) number = (number << 8n) | BigInt(byte);
        number >>= BigInt(8 * size - bits);
        if (number < bound) return number;
      }
    }
    hasExp(above, below) {
      for (; above > below; above -= below) if (!this.hasExp(1n, 1n)) return false;
      let count = 1n;
      while (this.below(below * count) < above) count += 1n;
      return count % 2n === 1n;
    }
    gaussian(variance) {
      let scale = BigInt(root(variance)) + 1n;
      const v = BigInt(variance);
      for (;;) {
        let size = this.below(scale);
        if (!this.hasExp(size, scale)) continue;
        while (this.hasExp(1n, 1n)) size += scale;
        const isNegative = this.take(1)[0] >= 128;
        if ((size || !isNegative) && this.hasExp((size * scale - v) ** 2n, 2n * v * scale * scale)) return Number(isNegative ? -size : size);
      }
    }
  }

  const bitsOf = (slot, asked, entropy) => {
    const count = slotsOf(asked), words = entropy.words(count), bytes = new Uint8Array(Math.ceil(count / 8));
    words.forEach((word, i) => {
      if (word < (i === slot ? WORDS / 2 : asked.noise.threshold)) bytes[i >> 3] |= 128 >> (i & 7);
    });
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  const replyOf = (point, asked, entropy) => {
    const { kind, noise } = asked;
    if (kind === "cells") return { bits: bitsOf(leafOf(point, asked), asked, entropy) };
    if (kind === "cost") {
      let [first, second] = [asked.first, asked.second].map((centers) => Math.min(...centers.map((center) => square(point, center))));
      if (asked.power === 1) [first, second] = [root(first), root(second)];
      const value = BigInt(Math.min(Math.max(first - second, -asked.range), asked.range)) + BigInt(asked.range);
      const words = entropy.words(2), isAbove = BigInt(words[0]) < (value * BigInt(WORDS)) / (2n * BigInt(asked.range));
      return { bit: Number(isAbove) ^ Number(words[1] < noise.threshold) };
    }
    const region = regionOf(point, asked);
    if (kind === "regions") return { bits: bitsOf(region, asked, entropy) };
    if (kind === "offsets") {
      const words = entropy.words(2), columns = point.length + (asked.kernel === "median" ? 1 : 0);
      const column = Math.floor((words[0] * columns) / WORDS);
      let slot = -1;
      if (region >= 0) {  // one of the two nearest bins, so that it is the value on average
        const value = (offsetOf(point, region, column, asked) + FINE) * (asked.bins - 1), low = Math.floor(value / (2 * FINE));
        slot = region * asked.bins + low + Number(words[1] < (value - low * 2 * FINE) * (WORDS / (2 * FINE)));
      }
      return { column, bits: bitsOf(slot, asked, entropy) };
    }
    const values = [];
    for (let i = 0; i < slotsOf(asked); i++) values.push(entropy.gaussian(noise.variance));
    if (region >= 0) {
      const anchor = asked.anchors[region], longest = longestOf(point, anchor, asked.reaches[region]);
      point.forEach((x, i) => { values[region * point.length + i] += scaled(x - anchor[i], asked.resolution, longest); });
    }
    return { values };
  };

  // Answer a question about one row, or refuse it: the message to send. What `state` holds then must be kept before it is sent.
  const respond = (row, question, policy, state, entropy = systemEntropy) => {
    let asked, digest, token, reports;
    try {
      asked = readQuestion(question);
      digest = digestOf(asked);
      [token, reports] = readState(state, entropy);
      if (own(reports, digest) !== undefined) return reports[digest].report;
      require_(isAsked(asked.group, token), "another group is asked");
      checkPolicy(asked, readPolicy(policy), reports);
    } catch (error) {  // no row was read yet
      return canonical({ format: "spinney-refusal/1", reason: error instanceof Refusal ? error.message : BROKEN });
    }
    const point = place(row, readDomain(asked.domain));
    const report = canonical({ format: "spinney-report/1", question: digest, token, ...replyOf(point, asked, new Entropy(entropy)) });
    state.reports[digest] = { epsilon: asked.epsilon, delta: asked.delta, report };
    return report;
  };
  return { canonical, digestOf, expBelow, isLawfulGaussian, isLawfulThreshold, readAmount, readQuestion, respond, sha256, slotsOf };
})();

if (typeof module !== "undefined") module.exports = spinney;
