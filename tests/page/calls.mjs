// SPDX-License-Identifier: MIT
// The calls of a trace in a page, by clicks and keys: calls.mjs PAGE.html
import {
    launch,
    open,
    check,
    equal,
    runParts,
    finish,
    state,
    press,
    settle,
    checkAxe,
} from './browser.mjs';

const file = process.argv[2];
const browser = await launch();
const chart = (page, what) => page.evaluate(`window.perfdataPage.callChart.${what}`);
const pause = (page) => page.waitForTimeout(400); // the address is written when moving has ended

async function walking() {
    const page = await open(browser, file);
    check((await page.evaluate(() => Number(document.documentElement.dataset.total))) > 0, 'samples are shown at first');
    await page.locator('#tab-calls').click();
    await settle(page);
    equal((await state(page)).view, 'calls', 'the view of calls');
    const rows = await page.locator('.panel.calls tbody tr').count();
    check(rows > 2, `functions in the table: ${rows}`);
    const drawn = await chart(page, 'makeBoxes().reduce((sum, level) => sum + level.start.length, 0)');
    const option = await page.locator('.panel.calls select option:checked').textContent();
    equal(Number(option.match(/: ([\d,]+) calls/)[1].replace(/,/g, '')), drawn, 'each call of the thread is a box');
    // Boxes of a level follow each other and lie within one of the level above.
    const nested = await page.evaluate(() => {
        const levels = window.perfdataPage.callChart.makeBoxes();
        return levels.every((level) =>
            level.start.every((start, i) => !i || start >= level.end[i - 1]),
        );
    });
    check(nested, 'calls of a level do not overlap');
    const [from, to] = await chart(page, 'window');
    await page.locator('.panel.calls .chart').focus();
    for (let i = 0; i < 40; i++) await press(page, '+');
    const [a, b] = await chart(page, 'window');
    check(b - a <= 20 && a >= from && b <= to, `zoomed from ${to - from} to ${b - a} ns`);
    for (let i = 0; i < 40; i++) await press(page, '-');
    equal(await chart(page, 'window'), [from, to], 'and back');
    await page.close();
}

async function table() {
    const page = await open(browser, file, { state: { view: 'calls' } });
    const numbers = async (column) =>
        (await page.locator(`.panel.calls .scroll tbody tr td:nth-child(${column})`).allTextContents()).map((text) =>
            Number(text.replace(/,/g, '')),
        );
    await page.getByRole('button', { name: 'Calls', exact: true }).click();
    const counts = await numbers(2);
    equal(counts, counts.slice().sort((x, y) => y - x), 'sorted by the number of calls');
    await page.getByRole('button', { name: /^Calls ▾/ }).click();
    equal(await numbers(2), counts.slice().reverse(), 'and the other way round');
    const all = await page.evaluate(() => {
        const { calls } = window.perfdataPage.profile;
        const sum = calls.sums.reduce((before, row) => before + row.count, 0);
        return [sum, calls.time.length, calls.leftOut];
    });
    equal(all[0], all[1] + all[2], 'sums count all calls');
    const name = page.locator('.panel.calls .scroll tbody th button').first();
    const text = await name.textContent();
    await name.click();
    await settle(page);
    equal((await state(page)).chosen.name, text, 'a function is chosen');
    check((await page.locator('.panel.calls meter').count()) > 0, 'its distribution is shown');
    const longest = page.locator('.panel.calls ol:not(.visually-hidden) button').first();
    await longest.click();
    await pause(page);
    const { calls } = await state(page);
    check(calls && calls.to > calls.from, 'a call is gone to');
    const copy = await open(browser, file, { state: await state(page) });
    equal((await state(copy)).calls, calls, 'the address keeps the place');
    const shown = await copy.evaluate(() => window.perfdataPage.callChart.window);
    equal(shown, [calls.from, calls.to], 'and shows it');
    await copy.close();
    await page.close();
}

// What a range leaves is at most the whole, and the whole range is all.
async function ranges() {
    const page = await open(browser, file, { state: { view: 'calls' } });
    const sums = (list) =>
        page.evaluate((chosen) => {
            const app = window.perfdataPage;
            app.set({ ranges: chosen });
            const rows = app.callChart.rows();
            const sum = (key) => rows.reduce((all, row) => all + row[key], 0);
            return [sum('count'), sum('self'), sum('total'), sum('all')];
        }, list);
    const whole = await sums([]);
    const [start, end] = await page.evaluate(() => {
        const { profile } = window.perfdataPage;
        return [profile.start, profile.end];
    });
    equal(await sums([[start, end]]), whole, 'the whole range is all');
    const middle = (start + end) / 2;
    const [left, right] = [await sums([[start, middle]]), await sums([[middle + 0.5, end]])];
    equal(left[0] + right[0], whole[0], 'halves add up');
    equal(await sums([[start, middle], [middle + 0.5, end]]), whole, 'and are all together');
    await page.close();
}

async function marks() {
    const page = await open(browser, file, { state: { view: 'calls' } });
    const note = await page.locator('.panel.calls .note').textContent();
    check(note.includes('Marks in sight: '), `marks are told: ${note}`);
    const list = await page.locator('.panel.calls ol.visually-hidden li').allTextContents();
    check(list.length > 0, 'a screen reader has them');
    const values = list.filter((text) =>
        /^ptwrite: IP: [01] payload: 0x[0-9a-f]+ .*at /.test(text),
    );
    check(values.length > 20, `with the values of ptwrite: ${list.slice(0, 3)}`);
    check(note.includes(' ptwrite,') || note.includes(' ptwrite.'), `which are counted by name: ${note}`);
    await page.locator('#tab-time').click();
    await settle(page);
    check((await page.locator('.panel.time .note').textContent()).includes('marks: '), 'the timeline has them');
    await page.close();
}

async function looks() {
    for (const theme of ['light', 'dark']) {
        const page = await open(browser, file, { state: { view: 'calls', theme }, bypassCSP: true });
        await page.locator('.panel.calls .scroll tbody th button').first().click();
        await checkAxe(page, `calls, ${theme}`);
        await page.setViewportSize({ width: 400, height: 800 });
        await settle(page);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        check(wide <= 400, `400 pixels are enough: ${wide}`);
        await page.close();
    }
}

await runParts([walking, table, ranges, marks, looks]);
await browser.close();
process.exit(finish());
