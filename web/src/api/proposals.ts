import type { Http } from './http.ts'

/** Confirms or declines a proposal of the delegate. */
export async function settleProposal(http: Http, id: string, word: 'confirm' | 'decline'): Promise<void> {
  await http('POST', `/api/proposals/${encodeURIComponent(id)}/${word}`)
}
