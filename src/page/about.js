// SPDX-License-Identifier: MIT
// The recording's header, what it lost, and what the colours mean.
import { make, replaceChildren, visible } from './format.js';
import { KIND_NAMES } from './color.js';

export function showAbout(panel, profile) {
    const { header } = profile;
    const rows = (list) =>
        make(
            'dl',
            { class: 'facts' },
            ...list.flatMap(([name, value]) => [
                make('dt', {}, visible(name)),
                make('dd', {}, visible(String(value))),
            ]),
        );
    const warnings = header.warnings || [];
    replaceChildren(
        panel,
        make('h2', {}, 'The recording'),
        rows(header.facts || []),
        make('h2', {}, 'Losses and warnings'),
        warnings.length
            ? make(
                  'ul',
                  { class: 'warnings' },
                  ...warnings.map((text) => make('li', {}, visible(text))),
              )
            : make('p', {}, 'none'),
        make('h2', {}, 'Colours of the kinds of code'),
        make('p', {}, KIND_NAMES.join(', ')),
    );
}
