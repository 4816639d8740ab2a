import { html, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { ConnectionTest, TestedService } from '../../../src/http/contract/settings.ts'
import { AppElement } from '../app/app-element.ts'
import { stepsView } from '../design/checklist.ts'
import { problemView } from '../design/field.ts'
import { msg } from '../design/msg.ts'

/** Tests the connection to an outside service and lists the result of each step. */
@customElement('dg-connection-test')
export class DgConnectionTest extends AppElement {
  @property() service!: TestedService
  /** Shown beside the button, for example that changes are not saved yet. */
  @property() note = ''
  /** Hides the button; the parent calls `run`. */
  @property({ type: Boolean }) bare = false
  @state() private result: ConnectionTest | null = null

  /** Runs the test. False if it failed or could not run. */
  async run(): Promise<boolean> {
    this.result = null
    let isOk = false
    await this.submission.send(async () => {
      const result = await this.app.http.post('/api/config.test', { body: { service: this.service } })
      this.result = result
      isOk = result.ok
    })
    return isOk
  }

  override render() {
    const { result } = this
    const { busy, problem } = this.submission
    return html`
      <div class="actions" ?hidden=${this.bare}>
        <button class="button small" type="button" ?disabled=${busy} @click=${this.run}>
          <dg-icon name="plug"></dg-icon>${busy ? msg`Testing…` : msg`Test the connection`}
        </button>
        <span class="soft">${this.note}</span>
      </div>
      ${problemView(problem)}
      <div role="status">${result === null ? nothing : stepsView(result)}</div>
    `
  }
}
