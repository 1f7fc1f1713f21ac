// SPDX-License-Identifier: MIT
// What can be done with one frame: a menu at the frame, for the mouse and for keys.
import { KEY_GROUP } from './tree.js';
import { make, replaceChildren } from './format.js';
import { copyText } from './table.js';

export class FrameMenu {
    constructor(app) {
        this.app = app;
        this.box = make('div', {
            class: 'menu',
            role: 'menu',
            'aria-label': 'Frame',
            hidden: true,
            onkeydown: (event) => this.key(event),
        });
        document.addEventListener(
            'pointerdown',
            (event) => {
                if (!this.box.hidden && !this.box.contains(event.target)) this.close();
            },
            { signal: app.gone.signal },
        );
        document.body.append(this.box);
    }

    open(tree, node, x, y) {
        const key = tree.keyOf(node);
        const entries = [];
        const entry = (text, action) =>
            entries.push(
                make(
                    'button',
                    {
                        role: 'menuitem',
                        onclick: () => {
                            this.close();
                            action();
                        },
                    },
                    text,
                ),
            );
        if (key >= 0 && key < KEY_GROUP) {
            const fn = tree.functionOf(key);
            const exact = {
                text: this.app.profile.functionName(fn),
                object: this.app.profile.objectName(fn),
                exact: true,
            };
            entry('Callers and callees', () => {
                this.app.chooseFunction(fn);
                this.app.set({ view: 'sandwich' });
            });
            if (this.app.profile.hasCode)
                entry('Source and instructions', () => {
                    this.app.chooseFunction(fn);
                    this.app.set({ view: 'code' });
                });
            entry('Only samples with it', () => this.app.addStep({ op: 'only', ...exact }));
            entry('Stacks from here', () => this.app.addStep({ op: 'from', ...exact }));
            entry('Hide this frame', () => this.app.addStep({ op: 'hide', ...exact }));
            entry('Without samples with it', () => this.app.addStep({ op: 'drop', ...exact }));
            entry('Mark on the timeline', () => {
                this.app.chooseFunction(fn);
                this.app.set({ view: this.app.panels.time ? 'time' : 'flame', search: '' });
            });
        }
        entry('Copy name', () => copyText(tree.name(key)));
        entry('Copy stack', () => copyText(this.app.pathNames(tree, node).join(';')));
        replaceChildren(this.box, ...entries);
        this.box.hidden = false;
        this.box.style.left = `${Math.min(x, window.innerWidth - this.box.offsetWidth - 4)}px`;
        this.box.style.top = `${Math.min(y, window.innerHeight - this.box.offsetHeight - 4)}px`;
        this.before = document.activeElement;
        entries[0].focus();
    }

    close() {
        this.box.hidden = true;
        if (this.before) this.before.focus();
    }

    key(event) {
        const items = [...this.box.children];
        const at = items.indexOf(document.activeElement);
        if (event.key === 'ArrowDown') items[(at + 1) % items.length].focus();
        else if (event.key === 'ArrowUp') items[(at + items.length - 1) % items.length].focus();
        else if (event.key === 'Escape' || event.key === 'Tab') this.close();
        else return;
        event.preventDefault();
        event.stopPropagation();
    }
}
