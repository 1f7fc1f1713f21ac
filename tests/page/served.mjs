// SPDX-License-Identifier: MIT
// The page that view serves: at once, of larger and larger parts of the recording: served.mjs
// PERFDATA RECORDING
// The recording has 240,000 samples of period 10, the second half in a process of its own.
import { spawn } from 'node:child_process';
import { launch, ready, runParts, check, equal, finish, total, state, press, settle } from './browser.mjs';

const [perfdata, recording] = process.argv.slice(2);
const WHOLE = 2400000;
const browser = await launch();

async function serve() {
    const server = spawn(perfdata, ['view', '-i', recording], { stdio: ['ignore', 'pipe', 'inherit'] });
    // A part that breaks off leaves its server behind, which would keep the test's stderr open.
    process.once('exit', () => server.kill());
    const address = await new Promise((done) =>
        server.stdout.once('data', (text) => done(String(text).trim())),
    );
    return { server, address };
}

async function openPage(address, prepare = () => {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    page.errors = [];
    page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') page.errors.push(message.text());
    });
    page.on('pageerror', (error) => page.errors.push(error.message));
    page.on('request', (request) =>
        check(request.url().startsWith(address), `request of ${request.url()}`),
    );
    await prepare(page);
    await page.goto(address);
    return page;
}

// What the server says until all has been read.
async function growing() {
    const { server, address } = await serve();
    const pictures = new Map();
    for (;;) {
        const news = await (await fetch(`${address}progress`)).json();
        if (news.picture) pictures.set(news.picture, news.part);
        if (news.whole) break;
        await new Promise((done) => setTimeout(done, 5));
    }
    const parts = [...pictures.values()];
    equal(parts[parts.length - 1], 1, 'the last picture is of the whole');
    check([...pictures.keys()].pop() >= 2, `there were pictures of parts: ${parts}`);
    check(parts.every((part, i) => !i || part > parts[i - 1]), `each of a larger part: ${parts}`);
    const page = await openPage(address);
    await ready(page);
    equal(await total(page), WHOLE, 'all samples');
    check(!(await page.locator('.news').isVisible()), 'nothing is left to be told');
    equal(page.errors, [], 'no error');
    await page.close();
    server.kill('SIGINT');
    equal(await new Promise((done) => server.once('exit', done)), 0, 'CTRL+C ends it with 0');
}

// A picture that takes another's place keeps what is looked at, and waits for who is in the middle
// of something.
async function replacing() {
    const { server, address } = await serve();
    for (;;) {
        if ((await (await fetch(`${address}progress`)).json()).whole) break;
        await new Promise((done) => setTimeout(done, 20));
    }
    const whole = Buffer.from(await (await fetch(`${address}data`)).arrayBuffer());
    let news = { picture: 0, part: 0, share: 0.05, records: 1000, whole: false };
    const page = await openPage(address, async (one) => {
        await one.route('**/progress', (route) => route.fulfill({ json: news }));
        await one.route('**/data', (route) => route.fulfill({ body: whole }));
    });
    await page.waitForFunction(() => document.querySelector('.news').textContent.includes('5.00 %'));
    check(await page.locator('#app .news progress').isVisible(), 'there is something to see before a picture');
    news = { ...news, picture: 1, part: 0.1, share: 0.3 };
    await ready(page);
    check((await page.locator('.news').textContent()).includes('30.00 %'), 'reading is told of');
    await page.waitForFunction(() => document.querySelector('.news').textContent.includes('first 10.00 %'));
    await page.locator('#tab-table').click();
    await page.fill('#search', 'half');
    await page.keyboard.press('Tab');
    await page.evaluate(() => (window.perfdataPage.isOld = true));
    await page.locator('#help').click();
    news = { ...news, picture: 2, part: 0.5, share: 0.8 };
    await page.waitForTimeout(1200);
    check(await page.evaluate(() => window.perfdataPage.isOld), 'an open dialog is not taken away');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !window.perfdataPage.isOld);
    await settle(page);
    equal((await state(page)).view, 'table', 'the view stays');
    equal(await page.inputValue('#search'), 'half', 'and the search');
    equal(await page.evaluate(() => document.activeElement.id), 'help', 'and the focus');
    equal(await page.locator('dialog').count(), 1, 'nothing of the old page is left');
    await page.evaluate(() => document.activeElement.blur());
    await press(page, '1');
    equal((await state(page)).view, 'flame', 'keys work');
    news = { ...news, picture: 3, part: 1, share: 1, whole: true };
    await page.waitForFunction(() => document.querySelector('.news').hidden);
    equal(page.errors, [], 'no error');
    news = null;
    await page.close();
    // The server ends: the page says so.
    const alone = await openPage(address, (one) =>
        one.route('**/progress', (route) =>
            route.fulfill({
                json: { picture: 1, part: 0.5, share: 0.5, records: 5, whole: false },
            }),
        ),
    );
    await ready(alone);
    await alone.unroute('**/progress');
    server.kill('SIGTERM');
    await new Promise((done) => server.once('exit', done));
    await alone.waitForFunction(() => document.querySelector('.news').textContent.includes('has ended'));
    equal(await total(alone), WHOLE, 'what was shown stays');
    await alone.close();
}

// Time ranges and rows of the timeline are differences of sums that are kept: they are what one
// gets by counting.
async function ranges() {
    const { server, address } = await serve();
    while (!(await (await fetch(`${address}progress`)).json()).whole)
        await new Promise((done) => setTimeout(done, 20));
    const page = await openPage(address);
    await ready(page);
    const found = await page.evaluate(() => {
        const app = window.perfdataPage;
        const { profile } = app;
        const [start, span] = [profile.start, profile.end - profile.start];
        const out = { differ: [], between: 0, sums: 0 };
        const weighBetween = app.tree.weighBetween.bind(app.tree);
        app.tree.weighBetween = (...given) => {
            const done = weighBetween(...given);
            out.between += done ? 1 : 0;
            return done;
        };
        for (let i = 0; i < 60; i++) {
            const shares = [0.618, 0.377, 0.839, 0.113].map((one) => (i * one) % 1).sort();
            const pairs = i % 2 ? [shares.slice(0, 2), shares.slice(2)] : [shares.slice(1, 3)];
            const list = pairs.map((pair) => pair.map((share) => start + Math.round(share * span)));
            app.set({ ranges: list, weight: i % 3 ? 'period' : 'samples', threads: i % 5 ? null : [1] });
            const weights = app.weights();
            const self = new Float64Array(app.tree.count);
            for (let s = 0; s < profile.sampleCount; s++)
                if (
                    list.some(([a, b]) => profile.time[s] >= a && profile.time[s] <= b) &&
                    (i % 5 || profile.thread[s] === 1)
                )
                    self[app.tree.sampleNode[s]] += weights ? weights[s] : 1;
            if (self.some((own, node) => own !== app.tree.self[node])) out.differ.push(list);
            app.set({ ranges: [] });
        }
        app.set({ view: 'time', weight: 'samples', threads: null });
        const line = app.timeline;
        const whole = (work) => {
            let step;
            do step = work.next();
            while (!step.done);
            return step.value;
        };
        for (const by of ['thread', 'process', 'cpu'])
            for (const [from, to] of [[0, 1], [0.1, 0.3], [0.4, 0.9], [0.4999, 0.5001]]) {
                line.by = by;
                line.window = [start + from * span, start + to * span];
                while (!line.rows.prepare(line.wanted()));
                const { rows } = whole(line.collect());
                whole(line.fillBins(rows, 300));
                const inSight = profile.time.filter(
                    (time) => time >= line.window[0] && time <= line.window[1],
                ).length;
                const binned = rows.reduce((sum, row) => sum + row.bins.reduce((x, y) => x + y), 0);
                const weighed = rows.reduce((sum, row) => sum + row.weight, 0);
                if (binned !== inSight || weighed !== inSight) out.differ.push([by, from, to]);
                out.sums += inSight;
            }
        return out;
    });
    equal(found.differ, [], 'sums of time ranges and rows');
    check(found.between >= 5 && found.sums > 100000, `they were differences: ${found.between}`);
    equal(page.errors, [], 'no error');
    await page.close();
    server.kill('SIGTERM');
}

await runParts([growing, replacing, ranges]);
await browser.close();
process.exit(finish());
