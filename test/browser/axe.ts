import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

type Finding = { id: string; impact: string | null; nodes: { html: string; failureSummary?: string }[] }

/** Moderate by axe's measure, and what makes a page hard to find one's way on. */
const wanted = ['region', 'heading-order', 'page-has-heading-one']

/** What axe finds serious or worse, or wrong in the outline of the page, in short. */
export async function findings(page: Page): Promise<readonly string[]> {
  // Evaluated, not added as a script element: the content security policy holds in the test too.
  await page.evaluate(readFileSync(axePath, 'utf8'))
  // Colours that are still changing would be measured half-way. A transition begins with the next frame, and one that
  // ends may be what another waits for.
  await page.evaluate(async () => {
    const animationsIn = (root: Document | ShadowRoot): Animation[] => [
      ...root.getAnimations(),
      ...[...root.querySelectorAll('*')].flatMap(({ shadowRoot }) =>
        shadowRoot ? animationsIn(shadowRoot) : [],
      ),
    ]
    const ending = async (): Promise<Animation[]> => {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      return animationsIn(document).filter(
        ({ effect, playState }) =>
          playState === 'running' && effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY,
      )
    }
    for (let running = await ending(); running.length > 0; running = await ending()) {
      await Promise.allSettled(running.map(({ finished }) => finished))
    }
  })
  const found = await page.evaluate(async (): Promise<Finding[]> => {
    const { violations } = await Reflect.get(window, 'axe').run(document, { resultTypes: ['violations'] })
    return violations
  })
  return found
    .filter(({ id, impact }) => impact === 'serious' || impact === 'critical' || wanted.includes(id))
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
    )
}
