// SPDX-License-Identifier: MIT
// Names of the recording are shown as text, whatever they are: names.mjs PAGE.html
import { launch, open, check, equal, finish, total, settle } from './browser.mjs';

const browser = await launch();
const page = await open(browser, process.argv[2]);
page.on('dialog', async (dialog) => {
    check(false, `a name was run: ${dialog.message()}`);
    await dialog.dismiss();
});
equal(await total(page), 5000 + 8 * 1000 + 28, 'all samples are there');
for (const id of ['flame', 'table', 'sandwich', 'time', 'order', 'about']) {
    await page.locator(`#tab-${id}`).click();
    await settle(page);
}
await page.locator('#tab-table').click();
await settle(page);
const names = await page.locator('.panel.table .rows .row .name').allTextContents();
const holds = (part) => names.some((name) => name.includes(part));
check(holds('<img src=x onerror=alert(2)>'), 'markup is text');
check(holds('semi;colon'), 'a semicolon is text');
check(holds('bad \\xff\\xfe utf8'), 'bytes that are not UTF-8 are shown as bytes');
check(holds('line\\u000abreak\\u0009tab'), 'control characters are shown');
check(holds('right \\u202e to left'), 'marks of direction are shown');
check(
    names.some((name) => name.includes('nnnn') && name.length > 3000),
    'a long name is whole',
);
equal(await page.locator('img').count(), 0, 'no element came of a name');
const scripts = await page.evaluate(
    () => [...document.scripts].filter((script) => script.type === 'module').length,
);
equal(scripts, 1, 'no script came of a name');
await browser.close();
process.exit(finish());
