// SPDX-License-Identifier: MIT
// What speedscope itself, in headless Chromium, shows of a profile whose weights are counts: a
// line "TOTAL SELF NAME" for each function of its sandwich view. speedscope.mjs PROFILE
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch } from '../page/browser.mjs';

const profile = path.resolve(process.argv[2]);
const index = path.join(process.env.ORACLES, 'node_modules/speedscope/dist/release/index.html');

// speedscope takes a file by name as a script.
const script = `${profile}.js`;
const base64 = fs.readFileSync(profile).toString('base64');
fs.writeFileSync(script, `speedscope.loadFileFromBase64('profile', '${base64}')\n`);

function count(text) {
    return Number(text.replace(/ *\(.*$/, '').replace(/\D/g, ''));
}

const browser = await launch();
try {
    // Its table has the rows that are in sight: all of them.
    const page = await browser.newPage({ viewport: { width: 1400, height: 60000 } });
    const address = pathToFileURL(index);
    address.hash = `localProfilePath=${encodeURIComponent(script.slice(1))}`;
    await page.goto(address.href);
    await page.getByText('Sandwich').first().click({ timeout: 120000 });
    await page.waitForSelector('table tr td');
    const rows = await page.$$eval('table tr', (all) =>
        all.map((row) => Array.from(row.querySelectorAll('td'), (cell) => cell.textContent)),
    );
    for (const row of rows)
        if (row.length === 3) console.log(`${count(row[0])} ${count(row[1])} ${row[2]}`);
} finally {
    await browser.close();
}
