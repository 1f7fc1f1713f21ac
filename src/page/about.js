// SPDX-License-Identifier: MIT
// The recording's header and what it lost.
import { make, replaceChildren, visible } from './format.js';

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
    );
}
