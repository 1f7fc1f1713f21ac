// SPDX-License-Identifier: MIT
// What a screen reader is told says what the pictures and tables show: reader.mjs PAGE.html
// It is asked of the browser's accessibility tree, in which nothing stands that is hidden from
// readers.
import { launch, open, check, equal, runParts, finish, press } from './browser.mjs';

const file = process.argv[2];
const browser = await launch();

// Names of the nodes of a role, in the tree's order, that lie below the first node of the role and
// name.
async function told(page, role, [aboveRole, aboveName]) {
    const session = await page.context().newCDPSession(page);
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    await session.detach();
    const byId = new Map(nodes.map((node) => [node.nodeId, node]));
    const is = (node, wanted) => !node.ignored && node.role && node.role.value === wanted;
    const nameOf = (node) => (node.name ? node.name.value : '');
    const above = nodes.find((node) => is(node, aboveRole) && nameOf(node).startsWith(aboveName));
    if (!above) return null;
    const names = [];
    const todo = [above.nodeId];
    while (todo.length) {
        const node = byId.get(todo.pop());
        if (!node) continue;
        if (is(node, role)) names.push(node);
        todo.push(...(node.childIds || []).slice().reverse());
    }
    return names.map((node) => ({
        name: nameOf(node),
        level: (node.properties || [])
            .filter((one) => one.name === 'level')
            .map((one) => one.value.value)[0],
        id: node.nodeId,
    }));
}

// The text of what lies below nodes that have no name of their own.
async function texts(page, role, above) {
    const nodes = await told(page, role, above);
    return nodes && nodes.map((node) => node.name);
}

// The tree is the way to the selected frame and what is drawn right below it.
async function flame() {
    const page = await open(browser, file);
    await page.locator('.panel.flame .flame').focus();
    for (let step = 0; step < 4; step++) {
        const drawn = await page.evaluate(() => {
            const { flame: one } = window.perfdataPage;
            const path = one.path(one.selected);
            const kids = one.boxes
                .filter((box) => box.node > 0 && one.tree.parentOf(box.node) === one.selected)
                .map((box) => [box.width, one.hooks.describe(box.node)])
                .sort((x, y) => y[0] - x[0]);
            return {
                path: path.map((node) => one.hooks.describe(node)),
                kids: kids.map((kid) => kid[1]),
            };
        });
        const items = await told(page, 'treeitem', ['tree', 'Flame graph']);
        check(items !== null, 'a reader meets the tree');
        const way = items.slice(0, drawn.path.length);
        equal(way.map((item) => item.name), drawn.path, `the way to the frame, step ${step}`);
        equal(way.map((item) => item.level), way.map((_, i) => i + 1), 'with its levels');
        const below = items.slice(drawn.path.length);
        check(drawn.kids.length > 0 && below.length >= drawn.kids.length, 'frames below it');
        equal(
            below.slice(0, drawn.kids.length).map((item) => item.name).sort(),
            drawn.kids.slice().sort(),
            `are those of the picture, step ${step}`,
        );
        check(
            below.every((item) => item.level === drawn.path.length + 1),
            'one level deeper',
        );
        await press(page, 'ArrowDown');
    }
    await page.close();
}

async function table() {
    const page = await open(browser, file, { state: { view: 'table' } });
    const above = ['table', 'Functions'];
    const heads = await texts(page, 'columnheader', above);
    check(/^Self/.test(heads[0]) && heads.includes('Function'), `columns are named: ${heads}`);
    const cells = await texts(page, 'cell', above);
    const wanted = await page.locator('.panel.table .rows .row .cell').allInnerTexts();
    check(wanted.length > heads.length, 'there are rows');
    equal(cells, wanted.map((text) => text.trim()), 'cells are what is seen');
    const [shown, rows] = await page.evaluate(() => [
        window.perfdataPage.table.shown.length,
        Number(document.querySelector('.panel.table [role=table]').getAttribute('aria-rowcount')),
    ]);
    equal(rows, shown + 1, 'and how many rows there are, seen or not');
    const [sorted] = await page.locator('.panel.table [aria-sort=descending]').allInnerTexts();
    check(/^Self/.test(sorted), 'what it is sorted by');
    await page.close();
}

async function timeline() {
    const page = await open(browser, file, { state: { view: 'time' } });
    const items = await told(page, 'listitem', ['list', 'Rows of the timeline']);
    const list = await page.locator('.panel.time .timeline li').allTextContents();
    const drawn = await page.evaluate(() => window.perfdataPage.profile.threads.map((_, i) => i)
        .filter((i) => window.perfdataPage.profile.thread.includes(i))
        .map((i) => window.perfdataPage.profile.threadName(i)));
    check(items !== null && items.length > 0, 'rows are in the tree');
    equal(items.length, list.length, 'each of the list');
    equal(list.map((text) => text.replace(/: [\d.]+ %$/, '')).sort(), drawn.sort(), 'a row a thread');
    const sum = list.reduce((all, text) => all + Number(/ ([\d.]+) %$/.exec(text)[1]), 0);
    check(Math.abs(sum - 100) < 0.1, `with its share, together ${sum} %`);
    await page.close();
}

// The flame chart's longest boxes, again when the picture has been zoomed.
async function order() {
    const page = await open(browser, file, { state: { view: 'order' } });
    const wanted = () =>
        page.evaluate(() => {
            const { orderChart: one } = window.perfdataPage;
            return one.boxes.map((box) => `level ${box.depth + 1}: ${one.describe(box)}`);
        });
    const seen = [];
    for (let step = 0; step < 2; step++) {
        await page.waitForTimeout(400); // it is told when the drawing has ended
        const items = await told(page, 'listitem', ['list', 'The longest in sight']);
        const list = await page.locator('.panel.order .chart li').allTextContents();
        const boxes = await wanted();
        equal(items && items.length, Math.min(50, boxes.length), 'as many as are drawn, 50 at most');
        check(list.every((text) => boxes.includes(text)), 'each is a box of the picture');
        check(/^level 1: \S.* from /.test(list[0]), `the first is a root: ${list[0]}`);
        seen.push(list.join('\n'));
        await page.locator('.panel.order .chart').focus();
        await press(page, '+', '+', '+', '+', '+', '+');
    }
    check(seen[0] !== seen[1], 'another part, other boxes');
    await page.close();
}

await runParts([flame, table, timeline, order]);
await browser.close();
process.exit(finish());
