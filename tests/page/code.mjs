// SPDX-License-Identifier: MIT
// Source and instructions of functions in pages that flame --code made: code.mjs FOLDER
import fs from 'node:fs';
import path from 'node:path';
import { launch, open, ready, check, equal, runParts, finish } from './browser.mjs';
import { state, press, settle, checkAxe } from './browser.mjs';

const folder = process.argv[2];
const browser = await launch();
const rows = (page, kind) => page.locator(`table.listing tr.${kind}`);

// From a frame by its menu to its code, another function, another choice of lines; the address
// keeps it.
async function walking() {
    const page = await open(browser, path.join(folder, 'inline.html'));
    await page.locator('.panel.flame .flame').focus();
    await press(page, 'ArrowDown', 'ArrowDown', 'm');
    await page.getByRole('menuitem', { name: 'Source and instructions' }).click();
    await settle(page);
    equal((await state(page)).view, 'code', "the frame's menu leads to its code");
    const names = await page.locator('#code-function option').allTextContents();
    check(names.length >= 2 && /^[\d.]+ % outer_/.test(names[0]), `functions to choose: ${names}`);
    await page.selectOption('#code-function', { index: 1 });
    await settle(page);
    const chosen = (await state(page)).chosen.name;
    check(names[1].endsWith(chosen), 'a function is chosen');
    check((await rows(page, 'code').count()) > 3, 'it has instructions');
    const places = await rows(page, 'where').count();
    check(places > 0, 'and where they come from');
    check(await page.locator('tr.hottest').isVisible(), 'its hottest line is in sight');
    const shares = await page.locator('table.listing tr.code .share').allTextContents();
    const sum = shares.reduce((all, text) => all + (Number.parseFloat(text) || 0), 0);
    check(Math.abs(sum - 100) < 0.2, `shares of lines add up: ${sum}`);
    await page.selectOption('#code-lines', 'code');
    equal(await rows(page, 'where').count(), 0, 'instructions alone');
    const address = await page.evaluate(() => location.href);
    await page.goto('about:blank');
    await page.goto(address);
    await ready(page);
    check((await page.locator('.panel.code h2').textContent()).startsWith(chosen), 'the address keeps it');
    const text = await page.evaluate(() => window.perfdataPage.codeView.text());
    check(/^\d+\t[0-9a-f]+\t/m.test(text), 'lines are copied with exact numbers');
    await page.setViewportSize({ width: 400, height: 800 });
    await settle(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= 400, `400 pixels are enough: ${wide}`);
    await page.close();
}

// Why a function has none.
async function without() {
    const page = await open(browser, path.join(folder, 'inline.html'));
    const note = async (fn) => {
        await page.evaluate((one) => {
            window.perfdataPage.chooseFunction(one);
            window.perfdataPage.set({ view: 'code' });
        }, fn);
        await settle(page);
        equal(await page.locator('table.listing').count(), 0, 'no code');
        return page.locator('.panel.code .note').textContent();
    };
    const [none, some] = await page.evaluate(() => {
        const { profile } = window.perfdataPage;
        const has = (fn) =>
            profile.code.functions.some(
                (one) => one.name === profile.functionName(fn) && one.lines.length,
            );
        const all = [...profile.fnName.keys()];
        return [all.find((fn) => !has(fn)), all.find(has)];
    });
    check(/less than 0\.1 %|could not be read/.test(await note(none)), 'it is said why there is none');
    await page.evaluate((fn) => {
        const { profile } = window.perfdataPage;
        profile.code.functions = profile.code.functions.filter(
            (one) => one.name !== profile.functionName(fn),
        );
        profile.fnKind[fn] = 4;
    }, some);
    check((await note(some)).includes('inlined'), 'an inlined function has none of its own');
    await page.close();
}

// What lies on the lines is what the page's samples say, function by function and event by event.
async function sums(name, least) {
    const page = await open(browser, path.join(folder, name));
    const [compared, differ] = await page.evaluate(() => {
        const { profile } = window.perfdataPage;
        const own = new Map();
        for (let i = 0; i < profile.sampleCount; i++) {
            if (!profile.stack[i]) continue;
            const fn = profile.frFn[profile.stFrame[profile.stack[i]]];
            const key = JSON.stringify([
                profile.functionName(fn),
                profile.objectName(fn),
                profile.event[i],
            ]);
            own.set(key, (own.get(key) || 0) + profile.period[i]);
        }
        const code = new Map();
        for (const one of profile.code.functions)
            for (const line of one.lines)
                for (const cell of line.cells) {
                    const key = JSON.stringify([one.name, one.object, cell.event]);
                    code.set(key, (code.get(key) || 0) + cell.weight);
                }
        const wrong = [...code].filter(([key, sum]) => own.get(key) !== sum);
        return [code.size, wrong];
    });
    check(compared >= least, `${name}: ${compared} sums`);
    equal(differ, [], `${name}: sums of lines and of samples`);
    await page.close();
}

async function source() {
    const file = path.join(folder, 'source.html');
    if (!fs.existsSync(file)) return;
    const page = await open(browser, file, { state: { view: 'code' } });
    const texts = await rows(page, 'source').allTextContents();
    check(
        texts.some((text) => text.includes('        sink += i * 3; /* <b>not markup</b> */')),
        `the source is there with its blanks: ${texts}`,
    );
    equal(await page.locator('table.listing b').count(), 0, 'source is text');
    await page.selectOption('#code-lines', 'source');
    equal(await rows(page, 'code').count(), 0, 'source alone');
    const share = await page.locator('table.listing tr.source .share').allTextContents();
    check(share.includes('100.00 %'), `a line of source has what its instructions have: ${share}`);
    await page.close();
}

async function axe() {
    for (const theme of ['light', 'dark']) {
        const page = await open(browser, path.join(folder, 'inline.html'), {
            state: { view: 'code', theme },
            bypassCSP: true,
        });
        await checkAxe(page, `code, ${theme}`);
        await page.close();
    }
}

await runParts([
    walking,
    without,
    () => sums('spin.html', 1),
    () => sums('group.html', 3),
    source,
    axe,
]);
await browser.close();
process.exit(finish());
