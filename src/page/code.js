// SPDX-License-Identifier: MIT
// Instructions and source lines of one function, each with its share of the function's samples.
import { make, replaceChildren, percent, visible } from './format.js';

export function showCode(panel, profile, chosen, choose) {
    const { code } = profile;
    const functions = [...new Set(code.fn)];
    const fn = functions.includes(chosen) ? chosen : functions[0];
    const select = make(
        'select',
        { 'aria-label': 'Function', onchange: (event) => choose(Number(event.target.value)) },
        ...functions.map((one) =>
            make('option', { value: one }, visible(profile.functionName(one))),
        ),
    );
    select.value = String(fn);
    let whole = 0;
    for (let i = 0; i < code.fn.length; i++) if (code.fn[i] === fn) whole += code.weight[i];
    const rows = [];
    let lastLine = -1;
    for (let i = 0; i < code.fn.length; i++) {
        if (code.fn[i] !== fn) continue;
        if (code.line[i] && code.line[i] !== lastLine) {
            const text = profile.strings[code.source[i]];
            rows.push(
                make(
                    'tr',
                    { class: 'source' },
                    make('td', {}),
                    make('td', {}, String(code.line[i])),
                    make('td', {}, visible(text)),
                ),
            );
            lastLine = code.line[i];
        }
        const share = whole ? code.weight[i] / whole : 0;
        const cell = make(
            'td',
            { class: 'share' },
            code.weight[i] ? percent(code.weight[i], whole) : '',
        );
        cell.style.setProperty('--share', `${100 * share}%`);
        rows.push(
            make(
                'tr',
                { class: share > 0.1 ? 'hot' : '' },
                cell,
                make('td', {}, code.address[i].toString(16)),
                make('td', {}, visible(profile.strings[code.text[i]])),
            ),
        );
    }
    replaceChildren(
        panel,
        make('div', { class: 'tools' }, make('label', {}, 'Function ', select)),
        make(
            'div',
            { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Code' },
            make(
                'table',
                { class: 'code' },
                make(
                    'thead',
                    {},
                    make(
                        'tr',
                        {},
                        make('th', { scope: 'col' }, 'Share'),
                        make('th', { scope: 'col' }, 'Address or line'),
                        make('th', { scope: 'col' }, 'Instruction or source'),
                    ),
                ),
                make('tbody', {}, ...rows),
            ),
        ),
    );
}
