import { css, html } from 'lit'
import { customElement } from 'lit/decorators.js'
import { msg } from '../design/msg.ts'
import { DialogElement } from './dialog-element.ts'
import { pages } from './pages.ts'
import { modName, type ShortcutGroup, shortcutGroups } from './shortcuts.ts'

const toPages: ShortcutGroup = {
  heading: msg`Go to a page, outside text fields`,
  shortcuts: pages.flatMap(({ title, listing }) =>
    listing ? [{ keys: ['G', listing.key.toUpperCase()], label: title }] : [],
  ),
}

@customElement('dg-shortcut-sheet')
export class DgShortcutSheet extends DialogElement {
  static override readonly styles = css`
    .stack {
      gap: var(--space-2);
    }
    dl > div {
      display: flex;
      align-items: baseline;
      justify-content: space-between;
      gap: var(--space-4);
    }
    dd {
      display: flex;
      flex: none;
      gap: var(--space-1);
    }
  `

  override render() {
    return html`<dg-dialog heading=${msg`Keyboard shortcuts`} reading>
      ${[...shortcutGroups, toPages].map(
        ({ heading, shortcuts }) => html`<h3 class="subhead">${heading}</h3>
          <dl class="stack">
            ${shortcuts.map(
              ({ keys, label }) => html`<div>
                <dt>${label}</dt>
                <dd>${keys.map((key) => html`<kbd>${key === 'mod' ? modName : key}</kbd>`)}</dd>
              </div>`,
            )}
          </dl>`,
      )}
    </dg-dialog>`
  }
}
