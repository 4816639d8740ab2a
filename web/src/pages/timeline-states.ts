import { html, type TemplateResult } from 'lit'
import type { Connection } from '../chat/socket.ts'
import type { IconName } from '../design/icon.ts'
import type { Entry } from '../timeline/tree.ts'

/** Before the first page is there: shapes of what is coming, or, when nothing comes, what is wrong. */
export function loadingView(connection: Connection, retry: () => void): TemplateResult {
  if (connection.state !== 'waiting') {
    return html`<div class="skeleton" role="status" aria-label="Loading the timeline">
      <div></div>
      <div></div>
      <div></div>
      <div></div>
    </div>`
  }
  if (connection.isRefused) {
    return html`<div class="center">
      <dg-state icon="offline" heading="There is no live connection" role="alert">
        <p>
          The service answers, but not on the WebSocket that the timeline comes over. Where a proxy stands before it,
          that has to pass WebSockets on to /chat. Trying again by itself.
        </p>
        <button class="button" @click=${retry}>Try now</button>
      </dg-state>
    </div>`
  }
  return html`<div class="center">
    <dg-state icon="offline" heading="The service cannot be reached" role="alert">
      <p>It may be starting, or this device may be offline. Trying again by itself.</p>
      <button class="button" @click=${retry}>Try now</button>
    </dg-state>
  </div>`
}

/** A part of the page's code could not be had. */
export function failedView(): TemplateResult {
  return html`<div class="center">
    <dg-state icon="offline" heading="This page could not be loaded" role="alert">
      <p>The service may be restarting, or may have been upgraded.</p>
      <button class="button" @click=${() => location.reload()}>Reload</button>
    </dg-state>
  </div>`
}

const suggestions: readonly { readonly icon: IconName; readonly text: string }[] = [
  { icon: 'brain', text: 'Remember that I take my coffee black' },
  { icon: 'note', text: 'Make a note: ideas for the garden' },
  { icon: 'timer', text: 'What time is it?' },
  { icon: 'help', text: 'What can you do for me?' },
]

/** A fresh install: what this is, and how to begin. */
export function emptyView(send: (text: string) => void): TemplateResult {
  return html`<div class="center">
    <div class="welcome">
      <h2>Hello. I’m your delegate.</h2>
      <p>
        Whatever you tell me, here, by phone or by text, becomes one timeline that only you can read. Ask me
        something, or begin with one of these:
      </p>
      <div class="suggestions">
        ${suggestions.map(
          ({ icon, text }) => html`<button class="suggestion" @click=${() => send(text)}>
            <dg-icon name=${icon}></dg-icon><span>${text}</span>
          </button>`,
        )}
      </div>
      <p class="later"><a href="/welcome">Set up a model service and the phone</a></p>
    </div>
  </div>`
}

/** Setting up alone leaves the page to its greeting; words, and what the owner has to see, do not. */
export function isWorthShowing(entry: Entry): boolean {
  if (entry.kind === 'notice') return /^(?:erasure\.|timer\.fired$)/.test(entry.event.type)
  return entry.kind === 'message' || entry.kind === 'failure' || entry.kind === 'proposal'
}
