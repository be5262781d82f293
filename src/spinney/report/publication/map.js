"use strict";
// One map: what is drawn comes from the page alone. x to the right and y upwards, both in [0, 1] of the longer side.
for (const box of document.querySelectorAll(".map")) {
  const data = JSON.parse(box.querySelector("script").textContent);
  const canvas = box.querySelector("canvas"), told = box.querySelector("[role=status]"), pen = canvas.getContext("2d");
  const bytes = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer;
  const points = new Uint16Array(bytes(data.points)), serving = new Uint16Array(bytes(data.serving));
  const edges = new Uint32Array(bytes(data.edges)), unit = 65535;
  const shown = { network: true, demand: true, labels: true };
  let view = null, wide = 0, high = 0, chosen = -1, asked = 0, moved_on = false;

  const whole = () => {
    const air = 36, scale = Math.max(Math.min((wide - 2 * air) / data.size[0], (high - 2 * air) / data.size[1]), 1);
    moved_on = false;
    view = { scale, x: (wide - scale * data.size[0]) / 2, y: (high + scale * data.size[1]) / 2 };
  };
  const across = (x) => view.x + x * view.scale, down = (y) => view.y - y * view.scale;

  const network = () => {
    const x = new Float32Array(serving.length), y = new Float32Array(serving.length);
    for (let i = 0; i < x.length; i++) { x[i] = across(points[2 * i] / unit); y[i] = down(points[2 * i + 1] / unit); }
    const paths = data.colors.map(() => new Path2D()), between = new Path2D(), count = paths.length;
    const path_of = (site) => site < data.sites.length ? paths[site % count] : between;  // or of nobody
    for (let e = 0; e < edges.length; e += 2) {
      const a = edges[e], b = edges[e + 1];
      if (Math.max(x[a], x[b]) < 0 || Math.min(x[a], x[b]) > wide || Math.max(y[a], y[b]) < 0 || Math.min(y[a], y[b]) > high)
        continue;
      const path = serving[a] === serving[b] ? path_of(serving[a]) : between;
      path.moveTo(x[a], y[a]); path.lineTo(x[b], y[b]);
    }
    if (!edges.length) for (let i = 0; i < x.length; i++) path_of(serving[i]).rect(x[i] - 1.5, y[i] - 1.5, 3, 3);
    pen.lineWidth = Math.min(Math.max(view.scale / 90 / Math.sqrt(serving.length), 0.5), 2.5);
    paths.forEach((path, i) => { pen.strokeStyle = data.colors[i]; pen.stroke(path); });
    pen.strokeStyle = "#9aa3ad"; pen.stroke(between);
  };
  const demand = () => {
    const largest = 14 * Math.min(1, (100 / data.demand.length) ** 0.25) * Math.min(1, wide / 800);
    pen.fillStyle = `rgba(28,36,48,${0.2 * Math.min(1, (100 / data.demand.length) ** 0.25)})`;  // many areas lie on each other
    for (const [x, y, size] of data.demand) {
      pen.beginPath(); pen.arc(across(x), down(y), 0.5 + largest * size, 0, 7); pen.fill();
    }
  };
  const label = (site, i, taken) => {  // the first of eight places that covers nothing; none if all do
    const text = `${site.name} (${site.rows})`, x = across(site.x), y = down(site.y), long = pen.measureText(text).width;
    const sides = [[11, -7], [-11 - long, -7], [-long / 2, -26], [-long / 2, 12], [8, -24], [-8 - long, -24], [8, 10], [-8 - long, 10]];
    for (const [right, below] of sides) {
      const place = [x + right - 2, y + below - 1, x + right + long + 2, y + below + 15];
      if (i !== chosen && taken.some((one) => one[0] < place[2] && one[2] > place[0] && one[1] < place[3] && one[3] > place[1]))
        continue;
      if (place[0] < 0 || place[2] > wide || place[1] < 0 || place[3] > high) continue;
      taken.push(place);
      pen.lineWidth = 3.5; pen.strokeStyle = "#fff"; pen.strokeText(text, x + right, y + below + 12);
      pen.fillStyle = "#1c2430"; pen.fillText(text, x + right, y + below + 12);
      return;
    }
  };
  const sites = () => {
    const order = data.sites.map((_, i) => i).sort((a, b) => (b === chosen) - (a === chosen) || a - b), taken = [];
    for (const i of order) {
      const x = across(data.sites[i].x), y = down(data.sites[i].y);
      taken.push([x - 8, y - 8, x + 8, y + 8]);
    }
    for (const i of order.slice().reverse()) {
      const site = data.sites[i], x = across(site.x), y = down(site.y);
      pen.beginPath();
      if (site.isNew) pen.arc(x, y, 7, 0, 7); else pen.rect(x - 6.5, y - 6.5, 13, 13);
      pen.fillStyle = site.color; pen.fill();
      pen.lineWidth = 3.5; pen.strokeStyle = "#fff"; pen.stroke();
      pen.lineWidth = i === chosen ? 3 : 1.3; pen.strokeStyle = "#1c2430"; pen.stroke();
    }
    pen.font = "13px system-ui,sans-serif"; pen.lineJoin = "round";
    if (shown.labels) for (const i of order) label(data.sites[i], i, taken);
  };
  const bar = () => {  // how long a round number of units is
    if (!data.length) return;
    const most = (data.length / view.scale) * Math.min(wide / 4, 160), ten = 10 ** Math.floor(Math.log10(most));
    const round = [5, 2, 1].find((one) => one * ten <= most) * ten, long = (round / data.length) * view.scale;
    const text = data.meters ? (round < 1000 ? `${round} m` : `${round / 1000} km`) : `${+round.toPrecision(3)}`;
    pen.fillStyle = "rgba(255,255,255,.85)"; pen.fillRect(8, high - 32, long + 16, 26);
    pen.strokeStyle = pen.fillStyle = "#1c2430"; pen.lineWidth = 1.5;
    pen.beginPath(); pen.moveTo(16, high - 16); pen.lineTo(16, high - 11); pen.lineTo(16 + long, high - 11);
    pen.lineTo(16 + long, high - 16); pen.stroke();
    pen.font = "12px system-ui,sans-serif"; pen.fillText(text, 18, high - 18);
  };
  const draw = () => {
    asked = 0;
    const dots = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(wide * dots) || canvas.height !== Math.round(high * dots)) {
      canvas.width = Math.round(wide * dots); canvas.height = Math.round(high * dots);
    }
    pen.setTransform(dots, 0, 0, dots, 0, 0);
    pen.fillStyle = "#fff"; pen.fillRect(0, 0, wide, high);
    if (shown.network) network();
    if (shown.demand) demand();
    sites(); bar();
  };
  const again = () => { if (!asked) asked = requestAnimationFrame(draw); };
  const fit = () => {
    const was = moved_on && { x: (wide / 2 - view.x) / view.scale, y: (view.y - high / 2) / view.scale, part: view.scale / wide };
    wide = canvas.clientWidth; high = canvas.clientHeight;
    if (!wide || !high) return;
    if (was) { const scale = was.part * wide; view = { scale, x: wide / 2 - was.x * scale, y: high / 2 + was.y * scale }; } else whole();
    draw();
  };
  const zoom = (by, x = wide / 2, y = high / 2) => {
    const least = Math.min(wide, high) / 4, scale = Math.min(Math.max(view.scale * by, least), least * 4000), part = scale / view.scale;
    view = { scale, x: x + (view.x - x) * part, y: y + (view.y - y) * part };
    moved_on = true; again();
  };
  const move = (x, y) => { view.x += x; view.y += y; moved_on = true; again(); };
  const choose = (i) => {
    chosen = (i + data.sites.length) % data.sites.length;
    const site = data.sites[chosen], x = across(site.x), y = down(site.y);
    if (x < 20 || x > wide - 20 || y < 20 || y > high - 20) move(wide / 2 - x, high / 2 - y);
    told.textContent = `${site.name}: ${site.rows} rows${data.margin}, ${site.isNew ? "new" : "existing"} site.`;
    again();
  };
  const keys = {
    ArrowLeft: () => move(60, 0), ArrowRight: () => move(-60, 0), ArrowUp: () => move(0, 60), ArrowDown: () => move(0, -60),
    "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: () => { whole(); again(); },
    n: () => choose(chosen + 1), p: () => choose(Math.max(chosen, 0) - 1),
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault(); keys[event.key]();
  });
  for (const button of box.querySelectorAll("button")) button.addEventListener("click", () => keys[button.value]());
  for (const layer of box.querySelectorAll("input"))
    layer.addEventListener("change", () => { shown[layer.value] = layer.checked; again(); });

  const down_at = new Map();
  let moved = 0;
  const at = (event) => { const frame = canvas.getBoundingClientRect(); return [event.clientX - frame.left, event.clientY - frame.top]; };
  canvas.addEventListener("pointerdown", (event) => {
    if (!down_at.size) moved = 0;
    down_at.set(event.pointerId, at(event)); canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = down_at.get(event.pointerId);
    if (!before) return;
    const now = at(event), others = [...down_at].filter(([id]) => id !== event.pointerId);
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (!others.length) move(now[0] - before[0], now[1] - before[1]);
    else {
      const [x, y] = others[0][1], far = (one) => Math.max(Math.hypot(one[0] - x, one[1] - y), 1);
      zoom(far(now) / far(before), x, y);
    }
    down_at.set(event.pointerId, now);
  });
  const up = (event) => {
    const [x, y] = at(event), was = down_at.delete(event.pointerId);
    if (!was || moved > 6 || event.type !== "pointerup") return;
    const near = data.sites.map((site, i) => [Math.hypot(across(site.x) - x, down(site.y) - y), i]).sort((a, b) => a[0] - b[0])[0];
    if (near[0] < 18) choose(near[1]);
  };
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, up);
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas && !event.ctrlKey) return;  // a page that is read scrolls on
    event.preventDefault(); zoom(Math.exp(-event.deltaY / 400), ...at(event));
  }, { passive: false });
  new ResizeObserver(fit).observe(canvas);
  fit();
}
