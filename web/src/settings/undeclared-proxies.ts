import { css, html, LitElement, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { Http } from '../data/http.ts'
import { fetchUndeclaredProxies } from '../data/service.ts'
import { controls } from '../design/controls.ts'
import '../design/icon.ts'

/** Warns of a proxy in front of the service that TRUSTED_PROXY does not list. Empty without one. */
@customElement('dg-undeclared-proxies')
export class DgUndeclaredProxies extends LitElement {
  static override readonly styles = [
    controls,
    css`
      .callout {
        margin: 0 var(--space-4) var(--space-4);
      }
    `,
  ]
  @property({ attribute: false }) http!: Http
  @state() private addresses: readonly string[] = []

  override firstUpdated(): void {
    fetchUndeclaredProxies(this.http).then(
      (addresses) => {
        this.addresses = addresses
      },
      // The page reports an unreachable service itself.
      () => undefined,
    )
  }

  override render() {
    if (this.addresses.length === 0) return nothing
    return html`<div class="callout warning">
      <dg-icon name="warning"></dg-icon>
      <p>
        Requests with forwarding headers came from ${this.addresses.join(', ')}, but no trusted proxy has that
        address. If it is your proxy, add it to the trusted proxies. Until then, all its visitors count as one
        client.
      </p>
    </div>`
  }
}
