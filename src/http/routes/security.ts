import { securityRoute } from '../contract/security.ts'
import type { CoreDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'

export function securityRoutes(routes: Routes, { checkSecurity, undeclaredProxies }: CoreDeps): void {
  routes.openapi(securityRoute, async (c) => {
    const host = c.req.header('host')
    const origin = host === undefined ? null : `${c.get('caller').isHttps ? 'https' : 'http'}://${host}`
    const checks = await checkSecurity({ origin, undeclaredProxies: undeclaredProxies() })
    return c.json({ checks }, 200)
  })
}
