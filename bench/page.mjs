// SPDX-License-Identifier: MIT
// Measures a page in headless Chromium: `node bench/page.mjs PAGE.html SAMPLES`; bench/page.sh makes one and starts this.
//
// Times are the median of several turns, what nine of ten do not pass, and the longest, the first ones (whose code the browser
// has not translated yet) among them. Memory is what the tab's process holds for itself.
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

async function measureStart(browser) {
    const [script, all] = [[], []];
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
        await page.close();
    }
    show('interactive, from its script on', '1 s', script, 'ms');
    show('and two frames drawn, from the address on', '1 s', all, 'ms');
}

// Time ranges of all sizes, at places that do not depend on chance.
async function measureRanges(page) {
    const times = await page.evaluate((count) => {
        const app = window.perfdataPage;
        const { start, end } = app.profile;
        const out = [];
        for (let i = 0; i < count; i++) {
            const size = ((i % 10) + 1) / 10;
            const at = ((i * 0.6180339887) % 1) * (1 - size);
            app.set({
                ranges: [[start + at * (end - start), start + (at + size) * (end - start)]],
            });
            out.push(app.weighTime);
        }
        app.set({ ranges: [] });
        return out;
    }, RANGES);
    show('a time range aggregated', '10 ms', times, 'ms');
}

// Each frame zooms in; what drawNow() takes, and the time between frames.
async function measureDrawing(page, view, chart) {
    const [draws, gaps] = await page.evaluate(
        async ([id, name, count]) => {
            const app = window.perfdataPage;
            app.set({ view: id });
            const one = app[name];
            const frame = () => new Promise((done) => requestAnimationFrame(done));
            await frame();
            await frame();
            const times = [];
            const own = one.drawNow.bind(one);
            one.drawNow = () => {
                const began = performance.now();
                own();
                times.push(performance.now() - began);
            };
            const between = [];
            let last = await frame();
            for (let i = 0; i < count; i++) {
                one.box.dispatchEvent(
                    new WheelEvent('wheel', {
                        deltaY: i < count / 2 ? -100 : 100,
                        ctrlKey: true,
                        bubbles: true,
                        cancelable: true,
                        clientX: 600,
                        clientY: 400,
                    }),
                );
                const now = await frame();
                between.push(now - last);
                last = now;
            }
            await frame();
            return [times, between];
        },
        [view, chart, FRAMES],
    );
    if (draws.length < FRAMES / 2) throw new Error(`${view} was drawn ${draws.length} times`);
    show(`${view}: a drawing while zooming`, '16 ms', draws, 'ms');
    show(`${view}: from frame to frame`, '16.7 ms', gaps, 'ms');
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
    await measureMemory(browser, page);
    await measureRanges(page);
    await measureDrawing(page, 'flame', 'flame');
    await measureDrawing(page, 'time', 'timeline');
    await measureDrawing(page, 'order', 'orderChart');
} finally {
    await browser.close();
}
