// SPDX-License-Identifier: MIT
// Walks through a page by clicks and keys as a person would: walk.mjs PAGE.html
// The recording is tests/data/demo, whose program calls gamma_leaf from alpha_top and from
// delta_rec, which calls itself.
import {
    launch,
    open,
    ready,
    check,
    equal,
    runParts,
    finish,
    total,
    state,
    press,
    settle,
    checkAxe,
} from './browser.mjs';

const file = process.argv[2];
const browser = await launch();

async function searching() {
    const page = await open(browser, file);
    const whole = await total(page);
    check(whole > 0, 'the page has samples');
    await press(page, '/');
    await page.keyboard.type('gamma_leaf');
    await settle(page);
    const hits = await page.locator('.hits').textContent();
    check(/^\d+ hits, 9\d\.\d\d %$/.test(hits), `hits are told: ${hits}`);
    await press(page, 'Enter');
    equal((await state(page)).chosen.name, 'gamma_leaf', 'Enter goes to a hit');
    await press(page, 'Escape');
    await page.locator('#regex').check();
    await page.fill('#search', '^(alpha|delta)_');
    await settle(page);
    check((await page.locator('.hits').textContent()).includes('hits'), 'expressions are searched');
    await page.fill('#search', '(');
    await settle(page);
    equal(await page.locator('.hits').textContent(), 'not an expression', 'a wrong one is told');
    await page.close();
}

// From the root down to gamma_leaf by keys, into it, and back.
async function zooming() {
    const page = await open(browser, file);
    await page.locator('.panel.flame .flame').focus();
    await press(page, 'ArrowDown', 'ArrowDown', 'ArrowDown');
    const before = await page.evaluate(() => window.perfdataPage.flame.selected);
    await press(page, 'Enter');
    equal(await page.evaluate(() => window.perfdataPage.flame.zoomed), before, 'Enter zooms');
    check((await state(page)).zoom.length === 3, 'the address knows what is zoomed');
    const tree = page.locator('.panel.flame [role=tree] [aria-current=true]');
    check((await tree.textContent()).includes('%'), 'a screen reader is told of the frame');
    await press(page, 'Backspace', 'Backspace', 'Backspace', 'Backspace');
    equal(await page.evaluate(() => window.perfdataPage.flame.zoomed), 0, 'Backspace goes back');
    await page.mouse.click(640, 200);
    await settle(page);
    check((await page.evaluate(() => window.perfdataPage.flame.zoomed)) > 0, 'a click zooms');
    await page.close();
}

async function choosing() {
    const page = await open(browser, file);
    const whole = await total(page);
    await page.fill('#search', 'delta_rec');
    await page.selectOption('#add-step', 'search-only');
    await settle(page);
    const only = await total(page);
    check(only > 0 && only < whole, 'only samples with delta_rec');
    await page.selectOption('#add-step', 'recursion');
    await settle(page);
    equal(await total(page), only, 'collapsed recursion weighs the same');
    equal(await page.locator('.chips .chip').count(), 2, 'a chip a step');
    await page.locator('.chips .chip').first().click();
    await settle(page);
    equal(await total(page), whole, 'a removed chip brings all back');
    await page.locator('.panel.flame .flame').focus();
    await press(page, 'u');
    equal(await page.locator('.chips .chip').count(), 0, 'u undoes the last step');
    await page.fill('#search', 'gamma_leaf');
    await page.selectOption('#add-step', 'search-drop');
    await settle(page);
    check((await total(page)) < whole / 5, 'without samples in gamma_leaf');
    await page.close();
}

async function menus() {
    const page = await open(browser, file);
    await page.locator('.panel.flame .flame').focus();
    await press(page, 'ArrowDown', 'ArrowDown', 'm');
    check(await page.locator('.menu').isVisible(), 'm opens the menu');
    await press(page, 'ArrowDown', 'ArrowUp', 'Enter');
    equal((await state(page)).view, 'sandwich', 'callers and callees by keys');
    check((await page.locator('.panel.sandwich h2').textContent()).includes('%'), 'with a share');
    await page.close();
}

async function tables() {
    const page = await open(browser, file);
    await page.locator('#tab-table').click();
    await settle(page);
    const first = page.locator('.panel.table .rows .row').first();
    check((await first.textContent()).includes('gamma_leaf'), 'the heaviest function is first');
    await page.locator('.panel.table .scroll').focus();
    await press(page, 'ArrowDown', 'Enter');
    equal((await state(page)).chosen.name, 'gamma_leaf', 'a row is chosen by keys');
    equal((await state(page)).view, 'sandwich', 'and opened');
    await page.locator('#tab-table').click();
    await page.fill('.panel.table input[type=search]', 'delta');
    await settle(page);
    equal(await page.locator('.panel.table .rows .row').count(), 1, 'rows are filtered');
    await page.fill('.panel.table input[type=search]', '');
    await page.locator('.columnheader button, .head .name button').first().click();
    await settle(page);
    const names = await page.locator('.panel.table .rows .row .name').allTextContents();
    equal(names, [...names].sort(), 'rows are sorted by name');
    const text = await page.evaluate(() => window.perfdataPage.table.text());
    check(text.split('\n').length === names.length + 1, 'all rows are copied');
    await page.close();
}

async function times() {
    const page = await open(browser, file);
    const whole = await total(page);
    await page.locator('#tab-time').click();
    await settle(page);
    const box = await page.locator('.timeline').boundingBox();
    await page.mouse.move(box.x + 400, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + 700, box.y + 40, { steps: 5 });
    await page.mouse.up();
    await settle(page);
    const part = await total(page);
    check(part > 0 && part < whole, 'a range drives the sums');
    await page.keyboard.down('Control');
    await page.mouse.move(box.x + 900, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + 1000, box.y + 40, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up('Control');
    await settle(page);
    equal((await state(page)).ranges.length, 2, 'a second range is added');
    check((await total(page)) > part, 'and counts');
    await page.locator('.timeline').focus();
    await press(page, 'Escape');
    equal(await total(page), whole, 'Escape clears the ranges');
    await press(page, 'ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowRight');
    equal((await state(page)).ranges.length, 1, 'a range by keys');
    await page.selectOption('.panel.time select', 'heat');
    await settle(page);
    await page.locator('#tab-order').click();
    await settle(page);
    check(
        (await page.evaluate(() => window.perfdataPage.orderChart.levels.length)) > 2,
        'samples in order of time',
    );
    await page.close();
}

// What of time is in sight, as the address has it after a rest.
async function timeAddresses() {
    const page = await open(browser, file);
    await page.locator('#tab-time').click();
    await page.selectOption('.panel.time select', 'heat');
    await page.locator('.timeline').focus();
    await press(page, 'ArrowRight', '+', '+');
    await page.locator('#tab-order').click();
    await page.locator('.chart').focus();
    await press(page, '+', 'ArrowRight');
    await page.waitForTimeout(300);
    await page.waitForFunction(() => decodeURIComponent(location.hash).includes('"from"'));
    const [address, before] = [await page.evaluate(() => location.href), await state(page)];
    const seen = () =>
        page.evaluate(() => {
            const { timeline, orderChart } = window.perfdataPage;
            return [timeline.by, timeline.window, orderChart.thread, orderChart.window];
        });
    const inSight = await seen();
    await page.goto('about:blank');
    await page.goto(address);
    await ready(page);
    equal(await state(page), before, 'the address keeps what of time is in sight');
    await page.locator('#tab-time').click();
    await settle(page);
    equal(await seen(), inSight, 'and the views go there');
    check(inSight[1][0] > 0, 'which is a part');
    const { start, end } = await page.evaluate(() => {
        const { profile } = window.perfdataPage;
        return { start: profile.start, end: profile.end };
    });
    const order = { thread: 99, from: 0, to: 1 };
    const wrong = { view: 'time', rows: 'x', window: [-5, 1e30], order };
    await page.goto('about:blank');
    await page.goto(`${address.replace(/#.*/, '')}#${encodeURIComponent(JSON.stringify(wrong))}`);
    await ready(page);
    equal((await seen()).slice(0, 2), ['thread', [start, end]], 'what is beyond the recording is not');
    equal((await state(page)).order, null, 'nor is a thread that is not there');
    await page.close();
}

// On paper a table has all its rows, and a dark page is light.
async function printing() {
    const page = await open(browser, file, {
        viewport: { width: 800, height: 300 },
        state: { view: 'table', theme: 'dark' },
    });
    const seen = () =>
        page.evaluate(() => [
            document.querySelectorAll('.panel.table .rows .row').length,
            document.documentElement.dataset.theme,
            window.perfdataPage.colors.dark,
        ]);
    const grow = (rows) =>
        page.evaluate((count) => {
            const { table } = window.perfdataPage;
            while (table.rows.length < count) table.rows.push({ ...table.rows[0] });
            table.update();
        }, rows);
    await grow(500);
    await settle(page);
    const before = await seen();
    check(before[0] < 60 && before[1] === 'dark', 'the screen has the rows in sight');
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    await grow(500);
    equal(await seen(), [500, 'light', false], 'paper has all, and is light');
    await grow(1500);
    equal((await seen())[0], 1000, 'or very many');
    const note = await page.locator('.panel.table .tools .note').textContent();
    equal(note, '1,000 of 1,500 rows', 'which is told');
    await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
    equal((await seen()).slice(1), before.slice(1), 'and it is dark again');
    await page.close();
}

// Boxes over time are chosen by keys, told, and gone to.
async function boxes() {
    const page = await open(browser, file, { state: { view: 'order' } });
    const chosen = () =>
        page.evaluate(() => {
            const { selected, window: seen } = window.perfdataPage.orderChart;
            return selected && { ...selected, seen };
        });
    await page.locator('.chart').focus();
    await press(page, 'Enter');
    equal(await chosen(), null, 'nothing is chosen at first');
    await press(page, 'ArrowDown');
    const first = await chosen();
    await press(page, 'ArrowDown');
    const inner = await chosen();
    equal([first.depth, inner.depth], [0, 1], 'down chooses the longest, then what it holds');
    check(inner.start >= first.start && inner.end <= first.end, 'which lies in it');
    const said = await page.locator('.panel.order [role=status]').textContent();
    check(/^level 2: .+: .* from /.test(said), `a screen reader is told: ${said}`);
    equal(await page.locator('.panel.order .tip').textContent(), said.slice(9), 'as the eye is');
    // Down to a level of several boxes, none of which is the last one.
    let at = inner;
    const isLast = () =>
        page.evaluate(() => {
            const { selected, levels } = window.perfdataPage.orderChart;
            return selected.i + 1 >= levels[selected.depth].start.length;
        });
    for (let i = 0; i < 9 && (await isLast()); i++) {
        await press(page, 'ArrowDown');
        at = await chosen();
    }
    await press(page, 'Shift+ArrowRight');
    const next = await chosen();
    equal([next.depth, next.i], [at.depth, at.i + 1], 'the next box of the level');
    await press(page, 'Shift+ArrowLeft');
    equal((await chosen()).i, at.i, 'and back');
    await press(page, 'ArrowUp');
    const above = await chosen();
    equal(above.depth, at.depth - 1, 'up to what holds it');
    check(above.start <= at.start && above.end >= at.end, 'which does hold it');
    await press(page, 'Enter');
    const { seen } = await chosen();
    check(seen[0] <= above.start && seen[1] >= above.end, 'Enter goes to the box');
    const size = Math.max(20, above.end - above.start);
    check(seen[1] - seen[0] < 1.2 * size, 'and to no more');
    check((await state(page)).chosen !== null, 'and chooses its function');
    await page.close();
}

// A picture for which a frame has no time is drawn in pieces, and is the same in the end. The clock
// of the page goes on by a millisecond whenever it is asked for.
async function pieces() {
    for (const [view, name, rows] of [
        ['flame', 'flame'],
        ['time', 'timeline', 'thread'],
        ['time', 'timeline', 'heat'],
        ['order', 'orderChart'],
    ]) {
        const page = await open(browser, file, { state: { view, rows: rows || 'thread' } });
        const found = await page.evaluate(async (chartName) => {
            const one = window.perfdataPage[chartName];
            const frame = () => new Promise((done) => requestAnimationFrame(done));
            const picture = () => one.sheet.canvas.toDataURL();
            while (one.pending) await frame();
            const whole = picture();
            const own = performance.now;
            let time = 0;
            performance.now = () => time++;
            one.sheet.canvas.width = 1;
            one.drawAnew();
            const [before, longest] = [one.drawNow.bind(one), []];
            one.drawNow = () => {
                const began = time;
                before();
                longest.push(time - began);
            };
            one.pending = 0;
            one.ask();
            while (one.pending) await frame();
            performance.now = own;
            const most = Math.max(...longest);
            return { frames: longest.length, most, same: picture() === whole };
        }, name);
        const what = `${view} ${rows || ''}`;
        check(found.frames > 1, `${what}: drawn in ${found.frames} pieces`);
        check(found.most <= 10, `${what}: none takes longer than a frame has: ${found.most}`);
        check(found.same, `${what}: the picture is the same`);
        await page.close();
    }
}

// A chosen function in all rows of the timeline and in the heat map.
async function marked() {
    const first = await open(browser, file);
    const chosen = await first.evaluate(() => {
        const { profile } = window.perfdataPage;
        const fn = [...profile.fnName.keys()].find((one) => profile.functionName(one) === 'gamma_leaf');
        return { name: profile.functionName(fn), object: profile.objectName(fn) };
    });
    await first.close();
    for (const rows of ['thread', 'process', 'cpu', 'heat']) {
        const counted = async (state) => {
            const page = await open(browser, file, { state: { view: 'time', rows, ...state } });
            const found = await page.evaluate(() => {
                const app = window.perfdataPage;
                const probe = document.createElement('canvas').getContext('2d');
                const style = getComputedStyle(document.documentElement);
                probe.fillStyle = style.getPropertyValue('--mark').trim();
                probe.fillRect(0, 0, 1, 1);
                const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
                const { canvas, note } = app.timeline;
                const context = canvas.getContext('2d');
                const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
                let pixels = 0;
                for (let i = 0; i < data.length; i += 4)
                    if (data[i] === r && data[i + 1] === g && data[i + 2] === b) pixels++;

                return { pixels, text: note.textContent };
            });
            await page.close();
            return found;
        };
        const [none, some] = [await counted({}), await counted({ chosen })];
        check(some.pixels > none.pixels + 20, `${rows}: ${none.pixels}, ${some.pixels} pixels are marked`);
        if (rows !== 'heat') continue;
        check(!none.text.includes('marked'), 'nothing is said to be marked');
        const page = await open(browser, file, { state: { chosen } });
        const share = await page.evaluate(() => {
            const app = window.perfdataPage;
            const fn = app.chosenFunction();
            const row = app.tree
                .rows((key) => (key >= 0 && app.tree.functionOf(key) === fn ? fn : null))
                .find((one) => one.value === fn);
            return ((100 * row.total) / app.tree.totalOf(0)).toFixed(2);
        });
        check(some.text.includes(`marked: ${share} %`), `${share} %: ${some.text}`);
        await page.close();
    }
}

// The texts of the axis: none is cut, none covers another one, each is another one.
async function axes() {
    const page = await open(browser, file, { state: { view: 'time' } });
    const texts = await page.evaluate(() => {
        const { timeline, profile } = window.perfdataPage;
        const own = CanvasRenderingContext2D.prototype.fillText;
        let out = [];
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
            const at = timeline.by === 'heat' || x >= timeline.label;
            if (at && y < 20) out.push([text, x, x + this.measureText(text).width]);
            own.call(this, text, x, y);
        };
        const of = (from, to) => {
            out = [];
            timeline.setWindow(from, to);
            timeline.drawWhole();
            return out;
        };
        const { start } = profile;
        const lists = [of(start, profile.end), of(start, start + 1e6)];
        lists.push(of(start + 12e6 + 100, start + 12e6 + 1100));
        timeline.by = 'heat';
        lists.push(of(start, start + 6e6));
        return lists;
    });
    for (const list of texts) {
        list.forEach(([text, from, to], i) => {
            check(to <= 1280, `${text} is not cut`);
            check(!i || from >= list[i - 1][2], `${text} covers no other`);
        });
        const different = new Set(list.map(([text]) => text)).size;
        check(different === list.length && different > 3, `texts: ${JSON.stringify(list)}`);
    }
    const [last] = texts[1].slice(-1);
    check(last[0] === '1 ms' && last[2] > 1270, 'the mark at the right edge has its text');
    await page.close();
}

// What is seen goes into the address, and comes out of it.
async function addresses() {
    const page = await open(browser, file);
    await page.fill('#search', 'delta_rec');
    await page.selectOption('#add-step', 'search-only');
    await page.selectOption('#set-shape', 'callers');
    await page.locator('#tab-table').click();
    await settle(page);
    const address = await page.evaluate(() => location.href);
    const [before, sum] = [await state(page), await total(page)];
    await page.goto('about:blank');
    await page.goto(address);
    await ready(page);
    equal(await state(page), before, 'the address keeps the view');
    equal(await total(page), sum, 'and the sums');
    await page.goto('about:blank');
    await page.goto(`${address.replace(/#.*/, '')}#%7B%22view%22%3A7,%22chips%22%3A%22x%22%7D`);
    await ready(page);
    equal((await state(page)).view, 'flame', 'nonsense in an address is left out');
    const wrong = {
        group: 'x',
        level: 7,
        event: 99,
        threads: [99999],
        ranges: [
            [0, 2e9],
            [1e9, 3e9],
            ['a', 1],
        ],
        chips: [{ op: 'only' }, { op: 'x', text: 'y' }, { op: 'hide', text: '(', regex: true }],
        view: 'sandwich',
    };
    await page.goto('about:blank');
    await page.goto(`${address.replace(/#.*/, '')}#${encodeURIComponent(JSON.stringify(wrong))}`);
    await ready(page);
    const left = await state(page);
    equal(
        [left.group, left.level, left.event, left.threads],
        ['none', 'function', -1, null],
        'what the recording has not is left out of an address',
    );
    equal(left.ranges, [[0, 3e9]], 'ranges of an address that overlap count once');
    equal(left.chips.length, 1, 'steps of an address without what they need are left out');
    await page.close();
}

async function looks() {
    const page = await open(browser, file, { colorScheme: 'dark' });
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    equal(await theme(), 'dark', 'dark by the system');
    await page.locator('.panel.flame .flame').focus();
    await press(page, 't');
    equal(await theme(), 'light', 'light by hand');
    await press(page, '?');
    check(await page.locator('dialog').isVisible(), '? shows the keys');
    await press(page, 'Escape');
    check(!(await page.locator('dialog').isVisible()), 'Escape closes them');
    await page.setViewportSize({ width: 400, height: 800 });
    await settle(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= 400, `400 pixels are enough: ${wide}`);
    const options = page.getByRole('button', { name: 'Options' });
    const shape = page.locator('#set-shape');
    check(!(await shape.isVisible()), 'a narrow window has its room for the picture');
    equal(await options.getAttribute('aria-expanded'), 'false', 'which the button tells');
    const picture = await page.locator('.panel.flame .flame').boundingBox();
    check(picture.height > 500, `the picture is ${picture.height} of 800 pixels high`);
    await options.focus();
    await press(page, 'Enter');
    check(await shape.isVisible(), 'the choices unfold by a key');
    equal(await options.getAttribute('aria-expanded'), 'true', 'and the button tells it');
    await options.click();
    check(!(await shape.isVisible()), 'and fold');
    await page.setViewportSize({ width: 1280, height: 800 });
    check(!(await options.isVisible()) && (await shape.isVisible()), 'a wide one shows them all');
    await page.close();
}

// In a window lower than the picture the canvas is what is seen of it, and roots come into sight.
async function lowWindow() {
    const page = await open(browser, file, {
        viewport: { width: 1280, height: 290 },
        state: { shape: 'flame' },
    });
    check((await page.locator('.legend').textContent()).includes('user'), 'colours are told');
    check(/ of \S/.test(await page.locator('.summary').textContent()), 'what is counted, too');
    const seen = () =>
        page.evaluate(() => {
            const { flame } = window.perfdataPage;
            const { scrollTop, clientHeight } = flame.box;
            const y = flame.top(0);
            return [
                flame.height > clientHeight,
                flame.sheet.canvas.clientHeight <= clientHeight,
                y >= scrollTop && y < scrollTop + clientHeight,
            ];
        });
    await settle(page);
    equal(await seen(), [true, true, true], 'a flame graph begins at its root');
    await page.locator('.panel.flame .flame').focus();
    await press(page, 'i', 'i');
    await settle(page);
    equal(await seen(), [true, true, true], 'turned round, too');
    const picture = () => page.evaluate(() => window.perfdataPage.flame.sheet.canvas.toDataURL());
    const first = await picture();
    await page.evaluate(() => (window.perfdataPage.flame.box.scrollTop = 1e6));
    await settle(page);
    await settle(page);
    check((await picture()) !== first, 'what is scrolled to is drawn');
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    check(
        await page.evaluate(() => {
            const { flame } = window.perfdataPage;
            return flame.sheet.canvas.clientHeight >= flame.height;
        }),
        'all of it is printed',
    );
    await page.close();
}

// All that has a function is reached by Tab alone.
async function byKeyboard() {
    const page = await open(browser, file);
    const met = new Set();
    for (let i = 0; i < 40; i++) {
        await page.keyboard.press('Tab');
        met.add(
            await page.evaluate(
                () => document.activeElement.id || document.activeElement.className,
            ),
        );
    }
    for (const id of [
        'search',
        'regex',
        'set-weight',
        'set-shape',
        'set-group',
        'set-level',
        'set-color',
        'add-step',
        'set-threads',
        'theme',
        'safe',
        'link',
        'help',
        'tab-flame',
        'flame',
    ])
        check(met.has(id), `Tab reaches ${id}`);
    await page.locator('#tab-flame').focus();
    await press(page, 'ArrowRight');
    equal((await state(page)).view, 'table', 'arrows change the view');
    await page.close();
}

async function axe() {
    for (const theme of ['light', 'dark']) {
        for (const view of ['flame', 'table', 'sandwich', 'time', 'order', 'about']) {
            const page = await open(browser, file, { state: { view, theme }, bypassCSP: true });
            await checkAxe(page, `${view}, ${theme}`);
            await page.close();
        }
    }
}

await runParts([
    searching,
    zooming,
    choosing,
    menus,
    tables,
    times,
    timeAddresses,
    printing,
    boxes,
    axes,
    pieces,
    marked,
    addresses,
    looks,
    lowWindow,
    byKeyboard,
    axe,
]);
await browser.close();
process.exit(finish());
