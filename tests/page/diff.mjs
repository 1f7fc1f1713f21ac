// SPDX-License-Identifier: MIT
// Two recordings in one page: diff.mjs PAGE.html. The old one is the first half of the new one.
import { launch, open, check, equal, finish, total, press, settle, state } from './browser.mjs';

const browser = await launch();
const page = await open(browser, process.argv[2]);
const before = await page.evaluate(() => window.perfdataPage.tree.oldOf(0));
check(before > 0 && before < (await total(page)), 'both recordings are counted');
check((await page.locator('.summary').textContent()).includes('before:'), 'and told');
equal(await page.locator('#tab-time').count(), 0, 'two clocks have no timeline');
const widths = await page.evaluate(() => {
    const { flame, tree } = window.perfdataPage;
    return [...tree.childrenOf(0)].reduce((sum, node) => sum + flame.share(node), 0);
});
check(Math.abs(widths - 1) < 1e-9, `widths are of both: ${widths}`);
await page.locator('.panel.flame .flame').focus();
const color = () =>
    page.evaluate(() => {
        const { flame, tree } = window.perfdataPage;
        const changes = Array.from({ length: tree.count }, (_, node) => flame.change(node));
        return changes.reduce((most, one) => (Math.abs(one) > Math.abs(most) ? one : most), 0);
    });
const change = await color();
check(change !== 0, 'something changed');
await press(page, 'r');
equal((await state(page)).reversed, true, 'r changes sides');
check((await color()) === -change, 'and the colours');
await page.locator('#tab-table').click();
await settle(page);
const heads = await page.locator('.panel.table .head .cell').allTextContents();
check(heads.includes('Before'), 'the table has what was before');
const cells = () => page.locator('.panel.table .rows .row .change').allTextContents();
check(heads.includes('Reverse ▾'), 'the direction is told, and the largest change comes first');
const back = await cells();
await page.evaluate(() => window.perfdataPage.set({ reversed: false }));
await settle(page);
const changes = await cells();
const sizes = changes.map((text) => Math.abs(Number(text))).filter((size) => size === size);
equal(
    sizes,
    sizes.slice().sort((x, y) => y - x),
    'large changes stand above small ones',
);
check(sizes[0] > 0, 'something changed');
const turned = { new: 'gone', gone: 'new' };
const opposite = (text) =>
    turned[text] || (text[0] === '+' ? text.replace('+', '-') : text.replace('-', '+'));
equal(
    back.map((text) => text.replace('-0.00', '+0.00')),
    changes.map((text) => opposite(text).replace('-0.00', '+0.00')),
    'turned round all changes are the opposite',
);
check(
    changes.length > 0 && changes.every((text) => /^([+-]\d+\.\d\d|new|gone)$/.test(text)),
    'each row has one',
);
await browser.close();
process.exit(finish());
