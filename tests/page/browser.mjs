// SPDX-License-Identifier: MIT
// What the page's tests share: a headless Chromium, a page of a file, checks that count.
//
// The environment names what does not lie in the repository: ORACLES, a folder whose node_modules
// holds playwright-core and axe-core; CHROMIUM, the browser.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';

const require = createRequire(path.join(process.env.ORACLES, 'package.json'));
const { chromium } = require('playwright-core');

// Without these the browser looks for hosts of its own.
const QUIET = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
];

export function launch() {
    return chromium.launch({ executablePath: process.env.CHROMIUM, args: QUIET });
}

let failures = 0;
let checks = 0;

export function check(holds, text) {
    checks++;
    if (holds) return;
    failures++;
    console.log(`FAILED: ${text}`);
}

export function equal(got, wanted, text) {
    check(
        JSON.stringify(got) === JSON.stringify(wanted),
        `${text}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`,
    );
}

// Runs the parts of a test one behind the other; one that breaks off is a failure, and the others
// still run.
export async function runParts(parts) {
    for (const part of parts) {
        try {
            await part();
        } catch (error) {
            check(false, `${part.name}: ${error.message}`);
        }
    }
}

// Prints what was checked; the process's exit code.
export function finish() {
    console.log(`${checks} checks, ${failures} failed`);
    return failures || !checks ? 1 : 0;
}

// A page of a file, ready. Anything that the browser complains of is a failure.
export async function open(browser, file, options = {}) {
    const context = await browser.newContext({
        viewport: options.viewport || { width: 1280, height: 800 },
        colorScheme: options.colorScheme || 'light',
        bypassCSP: options.bypassCSP || false,
    });
    const page = await context.newPage();
    page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning')
            check(false, `console: ${message.text()}`);
    });
    page.on('pageerror', (error) => check(false, `error in the page: ${error.message}`));
    page.on('request', (request) =>
        check(/^(file|data|blob):/.test(request.url()), `request of ${request.url()}`),
    );
    const hash = options.state ? `#${encodeURIComponent(JSON.stringify(options.state))}` : '';
    await page.goto(`file://${path.resolve(file)}${hash}`);
    await ready(page);
    return page;
}

export async function ready(page) {
    await page.waitForFunction(() => document.documentElement.dataset.ready);
    equal(
        await page.evaluate(() => document.documentElement.dataset.ready),
        'yes',
        'page is ready',
    );
    await settle(page);
}

// axe finds nothing in a page that was opened with bypassCSP.
export async function checkAxe(page, what) {
    await page.evaluate(fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
    const { violations } = await page.evaluate(() => window.axe.run());
    for (const { id, help, nodes } of violations)
        check(false, `axe, ${what}: ${id}: ${help}: ${nodes[0].html.slice(0, 200)}`);
    check(!violations.length, `axe finds nothing in ${what}`);
}

// Two frames, and more where a picture is drawn in pieces: what was asked for is drawn then.
export function settle(page) {
    return page.evaluate(async () => {
        const frame = () => new Promise((done) => requestAnimationFrame(done));
        const app = window.perfdataPage;
        const busy = () =>
            app &&
            [app.flame, app.callersFlame, app.calleesFlame, ...Object.values(app.views)].some(
                (one) => one && one.pending,
            );
        await frame();
        await frame();
        for (let i = 0; i < 600 && busy(); i++) await frame();
    });
}

export function total(page) {
    return page.evaluate(() => Number(document.documentElement.dataset.total));
}

export function state(page) {
    return page.evaluate(() => structuredClone(window.perfdataPage.state));
}

export async function press(page, ...keys) {
    for (const key of keys) {
        await page.keyboard.press(key);
        await settle(page);
    }
}
