import type { Http } from './http.ts'

/** Gives the owner's word on something that the delegate proposed. */
export async function settleProposal(http: Http, id: string, word: 'confirm' | 'decline'): Promise<void> {
  await http('POST', `/api/proposals/${encodeURIComponent(id)}/${word}`)
}
