import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../app/app.ts'
import { waitingView } from '../app/loaded.ts'
import { iconButton } from '../design/icon-button.ts'
import { msg } from '../design/msg.ts'
import '../services/first-messages.ts'
import type { Connection } from './chat/socket.ts'
import type { Entry } from './tree.ts'

/** Shows that the live connection is down. A style delays it, because most cuts end at once. */
export function connectionView(connection: Connection, retry: () => void): TemplateResult {
  const { state } = connection
  const isWaiting = state === 'waiting'
  const text = !isWaiting ? msg`Reconnecting…` : connection.isRefused ? msg`No live connection` : msg`Offline`
  return html`<div role="status">
    ${
      isWaiting || state === 'connecting'
        ? html`<div class="beside connection">
            <dg-icon name="offline"></dg-icon><span>${text}</span>
            ${isWaiting ? iconButton('retry', msg`Try now`, retry, 'quiet small', msg`Try now`) : nothing}
          </div>`
        : nothing
    }
  </div>`
}

/** Shown until the first page arrives: bars, or the reason why there is no connection. */
export function loadingView(connection: Connection, retry: () => void): TemplateResult {
  if (connection.state !== 'waiting') {
    return html`<div class="center column">${waitingView(msg`Loading the timeline`)}</div>`
  }
  return html`<div class="center">
    <dg-state
      icon="offline"
      heading=${connection.isRefused ? msg`No live connection` : msg`The service cannot be reached`}
      role="alert"
    >
      <p>
        ${
          connection.isRefused
            ? msg`The service answers requests, but the WebSocket connection fails. If the service is behind a proxy, make the proxy forward WebSockets on /chat. Retrying automatically.`
            : msg`It may be starting, or this device may be offline. Retrying automatically.`
        }
      </p>
      <button class="button" @click=${retry}>${msg`Try now`}</button>
    </dg-state>
  </div>`
}

/** Shown on a fresh install. */
export function emptyView(app: App, send: (text: string) => void): TemplateResult {
  return html`<div class="center">
    <div class="welcome">
      <h2>${msg`Hello. I’m your delegate.`}</h2>
      <p>
        ${msg`Everything you tell me, here, by phone or by text, is on one timeline that only you can read. Ask me something, or start with one of these:`}
      </p>
      <dg-first-messages
        .app=${app}
        .names=${['memory', 'note', 'time', 'help']}
        @say=${({ detail }: CustomEvent<string>) => send(detail)}
      ></dg-first-messages>
      <p><a href="/welcome">${msg`Set up a model service and the phone`}</a></p>
    </div>
  </div>`
}

/** Whether an entry replaces the greeting. Setup events do not; messages and important notices do. */
export function isWorthShowing(entry: Entry): boolean {
  if (entry.kind === 'notice')
    return /^(?:erasure\.|delegation\.|owner\.(?:signed-in|session|factor)|timer\.fired$)/.test(
      entry.event.type,
    )
  return entry.kind === 'message' || entry.kind === 'failure' || entry.kind === 'proposal'
}
