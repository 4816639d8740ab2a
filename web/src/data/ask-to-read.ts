import { html, type TemplateResult } from 'lit'
import type { ReadingEstimate } from '../../../src/http/contract/imports.ts'
import type { AppElement } from '../app/app-element.ts'
import { askToConfirm } from '../app/confirm-dialog.ts'
import { countText, dollarsText, plural } from '../design/format.ts'
import { msg } from '../design/msg.ts'

type Selection = { readonly importId: string } | { readonly ids: string[] }

/** Says what it costs to look for memories in imported conversations, and begins if the owner agrees. */
export async function askToRead(host: AppElement, selection: Selection): Promise<void> {
  const { app } = host
  await app.attempt(async () => {
    const estimate = await app.http.post('/api/imported.readings/estimate', { body: selection })
    if (estimate.requests === 0) {
      app.toast(msg`There are no messages of yours to read.`)
      return
    }
    askToConfirm(host, {
      heading: msg`Look for memories?`,
      content: contentOf(estimate),
      action:
        estimate.costMicros === 0
          ? msg`Look for memories`
          : msg`Look, for about ${dollarsText(estimate.costMicros)}`,
      look: 'primary',
      run: async () => {
        await app.http.post('/api/imported.readings', { body: selection })
        app.navigate('/imported/memories')
      },
    })
  })
}

function contentOf({ messages, conversations, method, ...estimate }: ReadingEstimate): TemplateResult {
  const what = msg`${plural(messages, msg`message`, msg`messages`)} of yours in ${plural(conversations, msg`conversation`, msg`conversations`)}`
  const { model, requests, inputTokens, outputTokens, costMicros } = estimate
  return html`<div class="stack">
    ${
      method === 'rules'
        ? html`<p>
            ${msg`Delegate reads ${what}. No language model is set up, so this is free, but finds only plain sentences such as “My sister lives in Porto”.`}
          </p>`
        : html`<p>
            ${msg`${model} reads ${what}: ${plural(requests, msg`request`, msg`requests`)} with about ${countText(inputTokens + outputTokens)} tokens.`}
            ${costMicros === 0 ? msg`It costs nothing.` : msg`This will cost about ${dollarsText(costMicros)}.`}
          </p>`
    }
    <p>${msg`What it finds becomes a memory only if you keep it.`}</p>
  </div>`
}
