import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

type Finding = { id: string; nodes: { html: string; failureSummary?: string }[] }

/** All violations that axe finds, one string each. */
export async function findings(page: Page): Promise<readonly string[]> {
  // Evaluated, because the content security policy blocks an added script element.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(readFileSync(axePath, 'utf8'))
  // Waits for transitions, or axe measures intermediate colours. A transition starts with the next frame, and
  // its end may start another. Frames are counted, because Chromium may never settle `finished` of a finished one.
  await page.evaluate(async () => {
    const animationsIn = (root: Document | ShadowRoot): Animation[] => [
      ...root.getAnimations(),
      ...[...root.querySelectorAll('*')].flatMap(({ shadowRoot }) =>
        shadowRoot ? animationsIn(shadowRoot) : [],
      ),
    ]
    const isMoving = ({ effect, playState }: Animation) =>
      playState === 'running' && effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY
    do {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    } while (animationsIn(document).some(isMoving))
  })
  const found = await page.evaluate(async (): Promise<Finding[]> => {
    const { violations } = await Reflect.get(window, 'axe').run(document, { resultTypes: ['violations'] })
    return violations
  })
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
  )
}
