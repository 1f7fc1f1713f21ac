// SPDX-License-Identifier: MIT
// A range of a trace, exact, in the page that view serves: range.mjs PERFDATA SYMFS RECORDING
import { spawn } from 'node:child_process';
import { launch, ready, check, equal, finish, state, settle, runParts } from './browser.mjs';

const [perfdata, symfs, recording] = process.argv.slice(2);
const browser = await launch();

async function range() {
    const server = spawn(perfdata, ['view', '--symfs', symfs, '-i', recording], {
        stdio: ['ignore', 'pipe', 'ignore'],
    });
    const address = await new Promise((done) =>
        server.stdout.once('data', (text) => done(String(text).trim())),
    );
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const errors = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(address);
    await ready(page);
    // The whole has come: then nothing takes the place of what is looked at.
    await page.waitForFunction(() => document.querySelector('.news').hidden, null, { timeout: 120000 });
    await page.locator('#tab-calls').click();
    const whole = await page.evaluate(() => {
        const { callChart, profile } = window.perfdataPage;
        callChart.setWindow(profile.start + 5e6, profile.start + 6e6);
        const { begin } = profile.header;
        return { begin, samples: profile.sampleCount, thread: callChart.thread };
    });
    await settle(page);
    await page.locator('.panel.calls button', { hasText: 'Exact' }).click();
    await page.waitForFunction(
        (begin) => window.perfdataPage.profile.header.begin !== begin,
        whole.begin,
        { timeout: 60000 },
    );
    await settle(page);
    const exact = await page.evaluate(() => {
        const { profile } = window.perfdataPage;
        return {
            shift: Number(BigInt(profile.header.begin)),
            span: profile.end - profile.start,
            samples: profile.sampleCount,
            left: profile.calls.leftOut,
        };
    });
    const offset = exact.shift - Number(whole.begin);
    check(offset >= 4e6 && offset <= 6e6, `it begins where it was asked for: ${offset}`);
    check(exact.span <= 2.2e6 && exact.samples < whole.samples, `and is a part: ${exact.span}`);
    equal(exact.left, 0, 'no call is left out');
    equal((await state(page)).view, 'calls', 'the view stays');
    check((await page.locator('.news').textContent()).includes('all of 1.000'), 'it is told');
    await page.locator('.news button', { hasText: 'Back' }).click();
    await settle(page);
    equal(await page.evaluate(() => window.perfdataPage.profile.header.begin), whole.begin, 'and back');
    check(await page.locator('.news').isHidden(), 'nothing is left to be told');
    equal(errors, [], 'no error');
    await page.close();
    server.kill('SIGTERM');
}

await runParts([range]);
await browser.close();
process.exit(finish());
