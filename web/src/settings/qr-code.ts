import { html, type TemplateResult } from 'lit'
import { encode } from 'uqr'

/** A text as a QR code, always dark on light, because many apps cannot read the inverse. */
export function qrCodeView(text: string, label: string): TemplateResult {
  const { data, size } = encode(text, { border: 3 })
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label=${label} shape-rendering="crispEdges">
    <rect width=${size} height=${size} fill="#fff"></rect>
    <path d=${dark.join('')} fill="#000"></path>
  </svg>`
}
