// Runs a kernel or a program with WebGPU, again and again, and draws one of its arrays.
// `data` holds the texts of kernels, the arrays, and the launches and copies of a run; see pykern/exporter/page_plan.py.

const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);

function refuse(text) {
    element("message").textContent = text;
    element("message").hidden = false;
    element("controls").hidden = true;
    document.documentElement.dataset.ready = "0";
}

// Numbers from 0 to 1 that are the same each time: those of mulberry32.
function* randomNumbers(seed) {
    for (;;) {
        seed = (seed + 0x6d2b79f5) | 0;
        let t = Math.imul(seed ^ (seed >>> 15), seed | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        yield ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    }
}

const kinds = { i64: BigInt64Array, u64: BigUint64Array, f32: Float32Array, i32: Int32Array, u32: Uint32Array, i16: Int16Array, u16: Uint16Array, i8: Int8Array,
    u8: Uint8Array, bool: Uint8Array };

function firstContents(array, seed) {
    const padded = new Uint8Array(Math.max(4, Math.ceil(array.bytes / 4) * 4));
    if (array.contents !== null) {
        padded.set(Uint8Array.from(atob(array.contents), (c) => c.charCodeAt(0)));
    } else if (!array.written && kinds[array.dtype]) {
        const values = new kinds[array.dtype](padded.buffer), random = randomNumbers(seed);
        const cast = array.dtype.endsWith("64") ? (value) => BigInt(Math.trunc(value)) : (value) => value;
        for (let k = 0; k < values.length; k++) { values[k] = cast(random.next().value * (array.dtype === "f32" ? 1 : 10)); }
    }
    return padded;
}

// -- the device ----------------------------------------------------------------------------------

if (!navigator.gpu) {
    refuse("This browser has no WebGPU, which runs the kernel of this page. Chrome and Edge from 113 on, Firefox from 141 on " +
        "and Safari from 26 on have it; over the network a page needs https for it.");
    return;
}
const adapter = await navigator.gpu.requestAdapter();
if (!adapter) {
    refuse("This browser knows WebGPU, but finds no graphics processor that it may use for it.");
    return;
}
const most = Math.max(...data.codes.map((code) => code.access.length));
if (most > adapter.limits.maxStorageBuffersPerShaderStage) {
    refuse(`A kernel of this page takes ${most} arrays, more than this graphics processor binds at a time.`);
    return;
}
const device = await adapter.requestDevice({ requiredLimits: { maxStorageBuffersPerShaderStage: Math.max(8, most) } });
device.lost.then((why) => refuse(`The graphics processor is gone: ${why.message}`));
device.addEventListener("uncapturederror", (event) => refuse(event.error.message));

const storage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
const buffers = data.arrays.map((array) => device.createBuffer({ size: Math.max(4, Math.ceil(array.bytes / 4) * 4), usage: storage }));
const codes = await Promise.all(data.codes.map(async (code) => {
    const hasWords = code.wgsl.includes("var<uniform> words");
    const layout = device.createBindGroupLayout({ entries: [
        ...code.access.map((access, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE,
            buffer: { type: access === "read" ? "read-only-storage" : "storage" } })),
        ...(hasWords ? [{ binding: code.access.length, visibility: GPUShaderStage.COMPUTE, buffer: { type: "uniform" } }] : []),
    ] });
    const pipeline = await device.createComputePipelineAsync({
        layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: { module: device.createShaderModule({ code: code.wgsl }), entryPoint: code.entry },
    });
    return { hasWords, layout, pipeline };
}));

// Each launch of a run has its numbers; behind them stands a zero, see `exact` in the text of a kernel.
const steps = data.steps.map((step) => {
    if (step.copy !== undefined) { return step; }
    const end = Math.max(0, ...step.words.map((word) => word.place + 8)) + 8;
    const view = new DataView(new ArrayBuffer(Math.ceil(end / 16) * 16));
    const uniform = device.createBuffer({ size: view.byteLength, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
    return { ...step, ...codes[step.code], view, uniform, bound: new Map() };
});

// `places[k]` is the buffer that array k is in now: arrays that are swapped change places after each run.
const places = data.arrays.map((_, k) => k);

function bound(step) {
    const there = step.arrays.map((k) => places[k]), key = there.join();
    if (!step.bound.has(key)) {
        const entries = [...there.map((place) => buffers[place]), ...(step.hasWords ? [step.uniform] : [])]
            .map((buffer, binding) => ({ binding, resource: { buffer } }));
        step.bound.set(key, device.createBindGroup({ layout: step.layout, entries }));
    }
    return step.bound.get(key);
}

const values = data.numbers.map((number) => number.value);
let launches = 0;

function writeWords(step) {
    for (const word of step.words) {
        const number = data.numbers[word.number], named = number?.name ?? null;
        const given = named === null ? word.value : named === data.frame ? launches : values[word.number];
        const value = number?.dtype === "f16" ? bitsOfHalf(given) : number?.dtype === "bf16" ? bitsOfShort(given) : given;
        if (word.type === "f32") {
            step.view.setFloat32(word.place, value, true);
        } else if (word.type === "vec2<u32>") {
            step.view.setBigInt64(word.place, BigInt(Math.trunc(value)), true);
        } else {
            step.view.setInt32(word.place, value, true);
        }
    }
    device.queue.writeBuffer(step.uniform, 0, step.view.buffer);
}

function copy(encoder, step) {
    const source = buffers[places[step.from]], to = buffers[places[step.to]];
    if (source !== to) {
        encoder.copyBufferToBuffer(source, step.at, to, step.toAt, step.copy);
    } else if (step.at !== step.toAt) {  // WebGPU copies between two buffers alone
        step.between ??= device.createBuffer({ size: step.copy, usage: GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST });
        encoder.copyBufferToBuffer(source, step.at, step.between, 0, step.copy);
        encoder.copyBufferToBuffer(step.between, 0, to, step.toAt, step.copy);
    }
}

function launch() {
    if (data.anew) { fill(); }
    const encoder = device.createCommandEncoder();
    for (const step of steps) {
        if (step.copy !== undefined) { copy(encoder, step); continue; }
        writeWords(step);
        const pass = encoder.beginComputePass();
        pass.setPipeline(step.pipeline);
        pass.setBindGroup(0, bound(step));
        pass.dispatchWorkgroups(...step.groups);
        pass.end();
    }
    device.queue.submit([encoder.finish()]);
    launches++;
    for (const [one, other] of data.swap) { [places[one], places[other]] = [places[other], places[one]]; }
}

async function read(k) {
    const size = buffers[places[k]].size, encoder = device.createCommandEncoder();
    const staging = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    encoder.copyBufferToBuffer(buffers[places[k]], 0, staging, 0, size);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const array = data.arrays[k], kept = new (kinds[array.dtype] ?? Uint16Array)(staging.getMappedRange().slice(0, array.bytes));
    staging.destroy();
    return array.dtype === "f16" ? Float32Array.from(kept, halfOf) : array.dtype === "bf16" ? shortOf(kept) : kept;
}

// Floats of 16 bits, by their bits.
function halfOf(bits) {
    const exponent = (bits >> 10) & 31, digits = bits & 1023, sign = bits >> 15 ? -1 : 1;
    if (exponent === 31) { return digits ? NaN : sign * Infinity; }
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + digits / 1024) : digits * 2 ** -24);
}

function nearestEven(value) {
    const low = Math.floor(value), part = value - low;
    return part > 0.5 || (part === 0.5 && low % 2) ? low + 1 : low;
}

function bitsOfHalf(value) {
    const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0, size = Math.abs(value);
    if (Number.isNaN(value)) { return 0x7e00; }
    if (size >= 65520) { return sign | 0x7c00; }
    if (size < 2 ** -14) { return sign | nearestEven(size * 2 ** 24); }
    const exponent = Math.floor(Math.log2(size)), digits = nearestEven(size * 2 ** (10 - exponent));
    return sign | (((exponent + 14) << 10) + digits);
}

function bitsOfShort(value) {
    const [bits] = new Uint32Array(Float32Array.of(value).buffer);
    return Number.isNaN(value) ? 0x7fc0 : (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

function shortOf(bits) {
    return new Float32Array(Uint32Array.from(bits, (each) => each << 16).buffer);
}

const contents = data.arrays.map((array, k) => firstContents(array, k + 1));

function fill() {
    buffers.forEach((buffer, k) => device.queue.writeBuffer(buffer, 0, contents[k]));
}

function startAgain() {
    launches = 0;
    places.forEach((_, k) => { places[k] = k; });
    fill();
}

// -- the picture ---------------------------------------------------------------------------------

const shown = data.shown, shape = data.arrays[shown].shape;
const canvas = element("picture"), context = canvas.getContext("2d");
const isPoints = data.kind === "points", colours = data.kind === "colours" ? shape[2] : 1;
canvas.width = isPoints ? 512 : shape[shape.length > 1 ? 1 : 0] ?? 1;
canvas.height = isPoints ? 512 : shape.length > 1 ? shape[0] : 1;

// From dark blue over green to yellow, so that more is brighter, also for those who see no colours.
const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function colour(t, pixels, at) {
    const place = Math.min(0.9999, Math.max(0, t || 0)) * (stops.length - 1), k = Math.floor(place), part = place - k;
    for (let c = 0; c < 3; c++) { pixels[at + c] = stops[k][c] + part * (stops[k + 1][c] - stops[k][c]); }
    pixels[at + 3] = 255;
}

function limits(array) {
    if (data.range) { return data.range; }
    let low = Infinity, high = -Infinity;
    for (const value of array) {
        if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
    }
    return low > high ? [0, 1] : [low, high > low ? high : low + 1];
}

function drawPoints(array) {
    context.fillStyle = "#111";
    context.fillRect(0, 0, 512, 512);
    context.fillStyle = "#fd3";
    for (let k = 0; k < shape[0]; k++) {
        context.fillRect(256 * (1 + array[k * shape[1]]) - 1, 256 * (1 - array[k * shape[1] + 1]) - 1, 2, 2);
    }
}

async function draw() {
    const found = await read(shown), array = typeof found[0] === "bigint" ? Array.from(found, Number) : found;
    if (isPoints) { drawPoints(array); return; }
    const image = context.createImageData(canvas.width, canvas.height), [low, high] = limits(array);
    for (let k = 0; k < canvas.width * canvas.height; k++) {
        if (colours === 1) { colour((array[k] - low) / (high - low), image.data, 4 * k); continue; }
        for (let c = 0; c < 4; c++) { image.data[4 * k + c] = c < colours ? 255 * array[colours * k + c] : 255; }
    }
    context.putImageData(image, 0, 0);
}

// -- controls ------------------------------------------------------------------------------------

data.numbers.forEach((word, k) => {
    if (!word.slider) { return; }
    const label = document.createElement("label"), input = document.createElement("input"), told = document.createElement("output");
    const [low, high] = word.slider;
    Object.assign(input, { type: "range", min: low, max: high, step: /^(f|bf)/.test(word.dtype) ? (high - low) / 1000 : 1, id: `slider-${word.name}` });
    input.value = told.value = word.value;
    input.addEventListener("input", () => {
        values[k] = Number(input.value);
        told.value = input.value;
        if (paused) { frame(0); }
    });
    label.append(word.name, input, told);
    element("sliders").append(label);
});

let paused = matchMedia("(prefers-reduced-motion: reduce)").matches, frames = 0, since = performance.now();

async function frame(count = data.runs) {
    for (let k = 0; k < count; k++) { launch(); }
    await draw();
    frames++;
    const now = performance.now();
    if (now - since > 500) {
        element("rate").value = `${(1000 * frames / (now - since)).toFixed(0)} frames a second`;
        [frames, since] = [0, now];
    }
}

async function run() {
    while (!paused) {
        await frame();
        await new Promise(requestAnimationFrame);
    }
}

function setPaused(wanted) {
    const was = paused;
    paused = wanted;
    element("pause").textContent = paused ? "run" : "pause";
    if (was && !paused) { run(); }
}

element("pause").addEventListener("click", () => setPaused(!paused));
element("step").addEventListener("click", () => { setPaused(true); frame(); });
element("again").addEventListener("click", () => { startAgain(); if (paused) { frame(0); } });
element("wgsl").textContent = data.codes.map((code) => code.wgsl).join("\n");
startAgain();

window.pykern = {
    read: async (name) => Array.from(await read(data.arrays.findIndex((array) => array.name === name))),
    set: (name, value) => { values[data.numbers.findIndex((number) => number.name === name)] = value; },
    launches: () => launches,
    startAgain, frame, launch,
    pause: () => setPaused(true),
};
if (location.hash === "#paused") { paused = true; }
setPaused(paused);
if (!paused) { run(); } else { await frame(0); }
document.documentElement.dataset.ready = "1";
