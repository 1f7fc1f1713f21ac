// SPDX-License-Identifier: MIT
// Measures a page in headless Chromium: `node bench/page.mjs PAGE.html SAMPLES`; bench/page.sh
// makes one and starts this.
//
// Times are the median of several turns, what nine of ten do not pass, and the longest, the first
// ones (whose code the browser has not translated yet) among them. CPU times are the tab's main
// thread's, which depend less on what else runs, and hold what the browser does for the frame
// besides. Memory is what the tab's process holds for itself.
import fs from 'node:fs';
import path from 'node:path';
import { launch } from '../tests/page/browser.mjs';

const TURNS = 5;
const RANGES = 40;
const FRAMES = 60;

const [file, samples] = process.argv.slice(2);

const part = (numbers, share) =>
    numbers.slice().sort((a, b) => a - b)[Math.floor((numbers.length - 1) * share)];
const show = (name, asked, numbers, unit) =>
    console.log(
        `${name}: ${part(numbers, 0.5).toFixed(1)}, ${part(numbers, 0.9).toFixed(1)}, ${part(numbers, 1).toFixed(1)} ${unit} (asked: ${asked})`,
    );

async function openPage(browser) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(`file://${path.resolve(file)}`, { timeout: 120000 });
    await page.waitForFunction(() => document.documentElement.dataset.ready, null, {
        timeout: 120000,
    });
    return page;
}

// In the page: milliseconds to count the samples between two shares of the time.
function timeRange([from, to]) {
    const app = window.perfdataPage;
    const { start, end } = app.profile;
    app.set({ ranges: [[start + from * (end - start), start + to * (end - start)]] });
    return app.weighTime;
}

async function measureStart(browser) {
    const [script, all, range] = [[], [], []];
    for (let turn = 0; turn < TURNS; turn++) {
        const page = await openPage(browser);
        const times = await page.evaluate(
            () =>
                new Promise((done) =>
                    requestAnimationFrame(() =>
                        requestAnimationFrame(() =>
                            done([
                                window.perfdataPage.readyTime,
                                performance.now() -
                                    performance.getEntriesByType('navigation')[0].startTime,
                            ]),
                        ),
                    ),
                ),
        );
        script.push(times[0]);
        all.push(times[1]);
        range.push(await page.evaluate(timeRange, [0, 0.1]));
        await page.close();
    }
    show('interactive, from its script on', '1 s', script, 'ms');
    show('and two frames drawn, from the address on', '1 s', all, 'ms');
    show('a time range aggregated, at once', '10 ms', range, 'ms');
}

// Nanoseconds that the main thread of the tab has run.
async function makeClock(browser) {
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const tabs = processInfo.filter((one) => one.type === 'renderer').map((one) => one.id);
    const ran = (id) => Number(fs.readFileSync(`/proc/${id}/schedstat`, 'utf8').split(' ')[0]);
    return () => tabs.reduce((sum, id) => sum + ran(id), 0);
}

// Time ranges of all sizes, at places that do not depend on chance, each in several turns: a single
// one may wait for a core on which the browser draws the range before.
async function measureRanges(page) {
    const turns = Array.from({ length: RANGES }, () => []);
    for (let i = 0; i < RANGES * TURNS; i++) {
        const one = i % RANGES;
        const size = ((one % 10) + 1) / 10;
        const at = ((one * 0.6180339887) % 1) * (1 - size);
        turns[one].push(await page.evaluate(timeRange, [at, at + size]));
    }
    await page.evaluate(() => window.perfdataPage.set({ ranges: [] }));
    show('a time range aggregated', '10 ms', turns.flat(), 'ms');
    const medians = turns.map((times) => part(times, 0.5));
    show(`the same, the median of ${TURNS} turns of each`, '10 ms', medians, 'ms');
}

// Zooms in, and out again: what the page draws in each frame, which is all or a piece of a picture,
// and the time from frame to frame of zooming without a rest.
async function measureDrawing(page, clock, [view, chart, rows]) {
    const name = rows ? `${view} by ${rows}` : view;
    await page.evaluate(
        async ([id, chartName, rowKind]) => {
            const app = window.perfdataPage;
            app.set({ view: id });
            const one = app[chartName];
            window.measured = one;
            window.frame = () => new Promise((done) => requestAnimationFrame(done));
            await window.frame();
            await window.frame();
            if (!rowKind) return;
            one.bySelect.value = rowKind;
            one.bySelect.dispatchEvent(new Event('change'));
        },
        [view, chart, rows],
    );
    const [draws, ran] = [[], []];
    for (let i = 0; i < FRAMES; i++) {
        await page.evaluate(
            async (deltaY) => {
                await window.frame();
                window.measured.box.dispatchEvent(
                    new WheelEvent('wheel', {
                        deltaY,
                        ctrlKey: true,
                        bubbles: true,
                        cancelable: true,
                        clientX: 600,
                        clientY: 400,
                    }),
                );
                cancelAnimationFrame(window.measured.pending);
            },
            i < FRAMES / 2 ? -100 : 100,
        );
        for (let more = true; more; ) {
            const before = clock();
            const [took, again] = await page.evaluate(() => {
                const one = window.measured;
                const began = performance.now();
                one.pending = 0;
                one.drawNow();
                const end = performance.now();
                cancelAnimationFrame(one.pending);
                return [end - began, one.pending];
            });
            ran.push((clock() - before) / 1e6);
            draws.push(took);
            more = again;
        }
    }
    show(`${name}: a drawing while zooming`, '16 ms', draws, 'ms');
    show(`${name}: its CPU time`, '16 ms', ran, 'ms');
    show(`${name}: from frame to frame`, '16.7 ms', await measureFrames(page), 'ms');
}

function measureFrames(page) {
    return page.evaluate(async (frames) => {
        const gaps = [];
        window.measured.draw();
        let last = await window.frame();
        for (let i = 0; i < frames; i++) {
            window.measured.box.dispatchEvent(
                new WheelEvent('wheel', {
                    deltaY: i < frames / 2 ? -100 : 100,
                    ctrlKey: true,
                    bubbles: true,
                    cancelable: true,
                    clientX: 600,
                    clientY: 400,
                }),
            );
            const now = await window.frame();
            gaps.push(now - last);
            last = now;
        }
        return gaps;
    }, FRAMES);
}

async function measureMemory(browser, page) {
    const session = await browser.newBrowserCDPSession();
    const own = await page.context().newCDPSession(page);
    await own.send('HeapProfiler.collectGarbage');
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const held = processInfo
        .filter((one) => one.type === 'renderer')
        .map((one) => fs.readFileSync(`/proc/${one.id}/status`, 'utf8'))
        .map((text) => Number(/RssAnon:\s+(\d+)/.exec(text)[1]) / 1000);
    console.log(`memory of the tab: ${Math.max(...held).toFixed(0)} MB (asked: 200 MB)`);
}

const size = fs.statSync(file).size;
console.log(`page: ${size} bytes, ${(size / samples).toFixed(2)} a sample (asked: 5)`);
const browser = await launch();
try {
    await measureStart(browser);
    const page = await openPage(browser);
    await measureRanges(page);
    await measureMemory(browser, page); // which drops compiled code: the ranges would be slower
    const clock = await makeClock(browser);
    for (const one of [
        ['flame', 'flame'],
        ['time', 'timeline', 'thread'],
        ['time', 'timeline', 'process'],
        ['time', 'timeline', 'cpu'],
        ['time', 'timeline', 'heat'],
        ['order', 'orderChart'],
    ])
        await measureDrawing(page, clock, one);
} finally {
    await browser.close();
}
