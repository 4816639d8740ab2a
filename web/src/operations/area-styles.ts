import { css } from 'lit'

/** A card of the operations page. */
export const areaStyles = css`
  section {
    margin-bottom: var(--space-5);
    padding: var(--space-4) var(--space-5) var(--space-5);
  }
  h2 {
    font-size: var(--text-lg);
    font-weight: 600;
  }
  ul.rows {
    margin-top: var(--space-2);
  }
  dl {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(12.5rem, 100%), 1fr));
    gap: var(--space-4) var(--space-5);
  }
  dl > div {
    display: flex;
    flex-direction: column;
  }
  .foot {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-2) var(--space-4);
    margin-top: var(--space-4);
    font-size: var(--text-sm);
  }
  @media (max-width: 40rem) {
    section {
      padding-inline: var(--space-4);
    }
  }
`
