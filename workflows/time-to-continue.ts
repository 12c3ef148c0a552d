import { workflowInfo } from '@temporalio/workflow';

/** The history is long, or a newer worker version is there: the workflow should go on in a new run of itself. */
export function isTimeToContinue(): boolean {
  const { continueAsNewSuggested, targetWorkerDeploymentVersionChanged } = workflowInfo();
  return continueAsNewSuggested || targetWorkerDeploymentVersionChanged;
}
