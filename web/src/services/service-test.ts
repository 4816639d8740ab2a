import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import type { ServiceTest } from '../../../src/http/contract/services.ts'
import { AppElement } from '../app/app-element.ts'
import { stepsView } from '../design/checklist.ts'
import { problemView } from '../design/field.ts'
import { capitalised } from '../design/format.ts'
import type { IconName } from '../design/icon.ts'
import { msg } from '../design/msg.ts'
import { isLoopback, type Tried } from './service-words.ts'

/** Tests a model service, and says what it can do. */
@customElement('dg-service-test')
export class DgServiceTest extends AppElement {
  static override readonly styles = css`
    .can {
      grid-template-columns: repeat(auto-fill, minmax(min(13rem, 100%), 1fr));
    }
    .checks > .lacks > dg-icon,
    .checks > .unknown > dg-icon {
      color: var(--ink-faint);
    }
  `
  @state() private result: ServiceTest | null = null
  @state() private address = ''

  /** Runs the test at an address. Null if it could not run. */
  async run(tried: Tried, address: string): Promise<ServiceTest | null> {
    this.clear()
    let result: ServiceTest | null = null
    await this.submission.send(async () => {
      result = await this.app.http.post('/api/services/test', { body: tried })
    })
    this.address = address
    this.result = result
    return result
  }

  clear(): void {
    this.result = null
    this.submission.show({})
  }

  override render() {
    const { result } = this
    return html`${problemView(this.submission.problem)}
      <div class="stack" role="status">
        ${this.submission.busy ? html`<p class="soft">${msg`Testing the connection…`}</p>` : nothing}
        ${result === null ? nothing : this.resultView(result)}
      </div>`
  }

  private resultView({ ok, steps, can }: ServiceTest): TemplateResult {
    return html`${stepsView({ ok, steps })}
      ${
        steps.some(({ name, ok }) => name === 'reachable' && !ok) && isLoopback(this.address)
          ? html`<p class="soft">
              ${msg`If Delegate runs in a container, localhost is the container. Enter the address of the machine instead, such as`} <code>${this.address.replace(/localhost|127\.[\d.]+|\[::1\]/, 'host.docker.internal')}</code>.
            </p>`
          : nothing
      }
      ${ok && can.length > 0 ? canView(can) : nothing}`
  }
}

const looks: Readonly<Record<'true' | 'false' | 'null', readonly [IconName, string, string]>> = {
  true: ['done', '', msg`yes`],
  false: ['close', 'lacks', msg`no`],
  null: ['help', 'unknown', msg`not known`],
}

type FeatureWords = {
  readonly title: string
  readonly yes: string
  readonly no: string
  /** Instead of what the service says. */
  readonly unknown?: string
}

/** What each feature means to the owner, and what its lack does. */
const features: Readonly<Record<string, FeatureWords>> = {
  chat: { title: msg`Chat`, yes: msg`It replies and learns.`, no: msg`It cannot reply. Check the address.` },
  embeddings: {
    title: msg`Search by meaning`,
    yes: msg`It can find memories in other words too, if you choose a model for that.`,
    no: msg`Memories are found by the same words only.`,
  },
  transcription: {
    title: msg`Transcription`,
    yes: msg`It can write down what is said, if you choose a model for that.`,
    no: msg`It does not write down what is said.`,
  },
  speech: {
    title: msg`Reading aloud`,
    yes: msg`It can read replies aloud, if you choose a model for that.`,
    no: msg`It does not read replies aloud.`,
  },
  realtime: {
    title: msg`Phone calls`,
    yes: msg`It can listen and speak in calls.`,
    no: msg`Calls use transcription, the chat model and reading aloud.`,
    unknown: msg`Not tested. Without one, calls use transcription, the chat model and reading aloud.`,
  },
  compaction: {
    title: msg`Long conversations`,
    yes: msg`It shortens them itself.`,
    no: msg`Delegate shortens them with the chat model.`,
  },
}

function canView(can: ServiceTest['can']): TemplateResult {
  return html`<p class="label" id="can">${msg`What it can do`}</p>
    <ul class="list checks can" aria-labelledby="can">
      ${can.map(({ feature, ok, detail }) => {
        const [icon, look, word] = looks[`${ok}`]
        const words = features[feature]
        return html`<li class=${look}>
          <dg-icon name=${icon}></dg-icon>
          <div>
            <strong>${words?.title ?? capitalised(feature)}</strong><span class="visually-hidden">: ${word}</span>
            <div class="soft">${words?.[ok === null ? 'unknown' : ok ? 'yes' : 'no'] ?? detail}</div>
          </div>
        </li>`
      })}
    </ul>`
}
