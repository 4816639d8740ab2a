import { css, html, nothing } from 'lit'
import { customElement } from 'lit/decorators.js'
import { AppElement } from '../app/app-element.ts'
import { Loaded } from '../app/loaded.ts'
import { msg } from '../design/msg.ts'
import '../operations/backups-view.ts'
import './downloads-view.ts'
import './imports-view.ts'

type Rule = { readonly hour: number; readonly keep: readonly number[] }

/** The owner's data: backups, downloads, and conversations with other assistants. */
@customElement('dg-data-page')
export class DgDataPage extends AppElement {
  static override readonly styles = css`
    .rule {
      margin: calc(-1 * var(--space-3)) 0 var(--space-5);
      padding-inline: var(--space-5);
    }
  `
  /** Without one while backups are off. */
  private readonly rule = new Loaded<Rule | 'off'>(this, {
    fetch: async (signal) => {
      const [{ state }, { entries }] = await Promise.all([
        this.app.http.get('/api/backups', { signal }),
        this.app.http.get('/api/config', { signal }),
      ])
      if (state === 'off') return 'off'
      const numberOf = (name: string) => Number(entries.find(({ key }) => key === name)?.value ?? 0)
      return {
        hour: numberOf('BACKUP_HOUR'),
        keep: ['BACKUP_KEEP_DAILY', 'BACKUP_KEEP_WEEKLY', 'BACKUP_KEEP_MONTHLY'].map(numberOf),
      }
    },
    concerns: (type) => type === 'settings.changed',
  })

  override render() {
    const { app, rule } = this
    return html`<dg-page heading=${msg`Your data`}>
      <a class="back" href="/settings"><dg-icon name="chevron"></dg-icon>${msg`Settings`}</a>
      <dg-backups .app=${app}></dg-backups>
      ${rule.value === null || rule.value === 'off' ? nothing : ruleView(rule.value)}
      <dg-downloads .app=${app}></dg-downloads>
      <dg-imports .app=${app}></dg-imports>
    </dg-page>`
  }
}

function ruleView({ hour, keep: [days = 0, weeks = 0, months = 0] }: Rule) {
  const at = `${String(hour).padStart(2, '0')}:00`
  return html`<p class="soft rule">
    ${msg`Backups are made each day at ${at}, and kept for ${days} days, then weekly for ${weeks} weeks and monthly for ${months} months.`} <a href="/settings#backups">${msg`Change the schedule`}</a>
  </p>`
}
