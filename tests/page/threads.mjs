// SPDX-License-Identifier: MIT
// A recording of 300 threads of a sample each, the last one of two: menus of threads, rows of the
// timeline: threads.mjs PAGE
import { launch, open, check, equal, finish, total, state, runParts, settle } from './browser.mjs';

const [file] = process.argv.slice(2);
const browser = await launch();

const options = (page) => page.locator('#set-threads option').count();

async function menu() {
    const page = await open(browser, file);
    equal(await options(page), 1, 'a long menu is empty at first');
    await page.focus('#set-threads');
    equal(await options(page), 301, 'it is filled when somebody comes');
    equal(await page.inputValue('#set-threads'), '', 'what was chosen stays');
    equal(await page.locator('#set-threads option').nth(1).textContent(), 't399 (399)', 'the busiest first');
    await page.selectOption('#set-threads', { label: 't399 (399)' });
    await settle(page);
    equal(await total(page), 20, 'the samples of one thread');
    const { threads } = await state(page);
    await page.close();
    const again = await open(browser, file, { state: { threads } });
    equal(await total(again), 20, 'an address that has chosen one');
    equal(await options(again), 2, 'there is an option for it');
    equal(await again.inputValue('#set-threads'), String(threads[0]), 'which is chosen');
    await again.focus('#set-threads');
    equal(await options(again), 301, 'once only when all are there');
    equal(await again.inputValue('#set-threads'), String(threads[0]), 'and chosen still');
    await again.close();
}

// Only what is in sight is drawn: all rows can be scrolled to.
async function rows() {
    const page = await open(browser, file, { state: { view: 'time' } });
    check((await page.locator('.panel.time .note').textContent()).startsWith('300 rows'), 'all rows are told of');
    check(!(await page.locator('.panel.time .note').textContent()).includes('heaviest'), 'and there');
    const picture = () => page.evaluate(() => window.perfdataPage.timeline.canvas.toDataURL());
    const top = await picture();
    equal(
        await page.evaluate(() => {
            const { box, canvas } = window.perfdataPage.timeline;
            return [box.scrollHeight > 300 * 20, canvas.clientHeight <= box.clientHeight];
        }),
        [true, true],
        'the canvas is as large as what is seen',
    );
    await page.evaluate(() => (window.perfdataPage.timeline.box.scrollTop = 1e6));
    await settle(page);
    await settle(page);
    const end = await picture();
    check(end !== top, 'others are drawn at the end');
    await page.evaluate(() => {
        const { canvas } = window.perfdataPage.timeline;
        canvas.getContext('2d').reset();
    });
    check((await picture()) !== end, 'and there are some');
    await page.close();
}

// What is shown first is not an event that hardly occurs.
async function firstEvent() {
    for (const [name, event, text] of [
        [process.argv[3], 1, 'an event of hardly any samples is passed over'],
        [process.argv[4], 0, 'the first event is shown'],
    ]) {
        const page = await open(browser, name);
        equal((await state(page)).event, event, text);
        await page.close();
    }
}

await runParts([menu, rows, firstEvent]);
await browser.close();
process.exit(finish());
