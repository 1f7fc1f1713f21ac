// SPDX-License-Identifier: MIT
// Names of the recording are shown as text, whatever they are: names.mjs PAGE.html
import path from 'node:path';
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
check(holds(`"quotes" & 'both'`), 'quotes are text');
const comms = await page.evaluate(() => {
    const { profile } = window.perfdataPage;
    return profile.threads.map((_, thread) => profile.threadName(thread));
});
check(
    comms.some((name) => name.startsWith('<b>comm2')) &&
        !comms.some((name) => name.includes('behind')),
    `a name ends at its NUL: ${comms}`,
);
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
// A function's name of 10 KB: the page shows it, and can be looked at still.
if (process.argv[3]) {
    const long = await open(browser, process.argv[3]);
    for (const id of ['flame', 'sandwich', 'order', 'table']) {
        await long.locator(`#tab-${id}`).click();
        await settle(long);
    }
    const all = await long.locator('.panel.table .rows .row .name').allTextContents();
    check(
        all.some((name) => name === 'n'.repeat(10240)),
        'a name of 10 KB is whole',
    );
    await long.close();
}

// What the policy of the page forbids does not happen, whoever tries: a script, that of an
// attribute, a request.
const bare = await (await browser.newContext()).newPage();
await bare.goto(`file://${path.resolve(process.argv[2])}`);
await bare.waitForFunction(() => document.documentElement.dataset.ready);
const done = await bare.evaluate(async () => {
    const violated = [];
    document.addEventListener('securitypolicyviolation', (event) =>
        violated.push(event.effectiveDirective),
    );
    const script = document.createElement('script');
    script.textContent = 'window.ran = 1';
    document.body.append(script);
    document.body.insertAdjacentHTML('beforeend', '<b onclick="window.ran = 2">x</b>');
    document.body.lastElementChild.click();
    const image = document.createElement('img');
    image.src = 'http://127.0.0.1:9/x.png';
    document.body.append(image);
    const frame = document.createElement('iframe');
    frame.src = 'http://127.0.0.1:9/';
    document.body.append(frame);
    const fetched = await fetch('http://127.0.0.1:9/x').then(
        () => true,
        () => false,
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { ran: window.ran, fetched, violated: violated.sort() };
});
equal([done.ran, done.fetched], [undefined, false], 'nothing was run');
const directives = ['script-src-elem', 'script-src-attr', 'img-src', 'frame-src', 'connect-src'];
for (const directive of directives)
    check(done.violated.includes(directive), `the policy forbids by ${directive}`);
await browser.close();
process.exit(finish());
