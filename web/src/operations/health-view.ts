import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement } from 'lit/decorators.js'
import type { Health, Reactor } from '../../../src/http/contract/health.ts'
import { type Check, checksOf, reportedChecks } from '../api/health.ts'
import { AppElement } from '../app/app-element.ts'
import { haltedText } from '../app/halt-words.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import type { IconName } from '../design/icon.ts'
import { msg } from '../design/msg.ts'
import { areaStyles } from './area-styles.ts'
import { backlogText, checkName, checkText, failureText, reactorName, verifiedText } from './health-words.ts'

const refreshMs = 15_000

/** The state of the service: each check, and background work that is waiting or has failed. */
@customElement('dg-health')
export class DgHealth extends AppElement {
  static override readonly styles = [
    areaStyles,
    css`
      .verified {
        margin-top: var(--space-3);
      }
    `,
  ]
  private readonly health = new Loaded<Health>(this, {
    fetch: () => this.app.http.get('/api/session/health'),
    concerns: (type) => type.startsWith('delegation.'),
    againMs: () => refreshMs,
  })

  override render() {
    return html`<section class="card" aria-labelledby="health">
      <h2 id="health">${msg`Health`}</h2>
      <p class="intro soft">${msg`The current state of Delegate, and what to do if something fails.`}</p>
      ${loadedView(this.health, msg`health`, healthView)}
      <p class="foot"><a href="/security">${msg`Security checks`}</a></p>
    </section>`
  }
}

function healthView(health: Health): TemplateResult {
  const busy = health.reactors.filter(({ waiting, lastFailure }) => waiting > 0 || lastFailure !== null)
  return html`
    <ul class="list checks">
      ${
        health.halt
          ? html`<li class="warns">
              <dg-icon name="halt"></dg-icon>
              <div><strong>${msg`Halt`}</strong>${msg`: ${haltedText(health.halt)}. Background work waits.`}</div>
            </li>`
          : nothing
      }
      ${checksOf(health.checks).map(checkView)}
    </ul>
    ${health.verified ? html`<p class="verified soft">${verifiedText(health.verified)}</p>` : nothing}
    <h3 class="subhead">${msg`Background work`}</h3>
    ${
      busy.length === 0
        ? html`<p class="soft">${msg`No backlog, and no failures since Delegate started.`}</p>`
        : html`<ul class="list checks">
            ${busy.map(reactorView)}
          </ul>`
    }
  `
}

function lookOf({ name, ok, off }: Check): readonly [tone: string, icon: IconName] {
  if (off) return ['off', 'info']
  if (ok) return ['', 'done']
  return reportedChecks.has(name) ? ['warns', 'warning'] : ['fails', 'failed']
}

function checkView(check: Check): TemplateResult {
  const [tone, icon] = lookOf(check)
  return html`<li class=${tone}>
    <dg-icon name=${icon}></dg-icon>
    <div><strong>${checkName(check.name)}</strong>: ${checkText(check)}</div>
  </li>`
}

function reactorView(reactor: Reactor): TemplateResult {
  const isOk = reactor.state === 'ok'
  return html`<li class=${isOk ? '' : 'fails'}>
    <dg-icon name=${isOk ? 'done' : 'failed'}></dg-icon>
    <div>
      <strong>${reactorName(reactor.name)}</strong>${isOk ? '' : reactor.state === 'failing' ? msg`, failing` : msg`, stalled`}
      <div class="soft">
        ${[backlogText(reactor), failureText(reactor)].filter((text) => text !== '').map((text) => html`<div>${text}</div>`)}
      </div>
    </div>
  </li>`
}
