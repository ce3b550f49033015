"""`hardwon run`: a suite, a model, a strategy."""

from __future__ import annotations

from hardwon.cli import options as o


def run(
    suite: o.SuiteName,
    data: o.Data = None,
    model: o.ModelName = None,
    strategy: o.StrategyName = "reflexion",
    settings: o.Settings = None,
    trials: o.Trials = None,
    budget: o.BudgetText = "",
    limit: o.Limit = None,
    ids: o.Ids = None,
    select: o.Select = None,
    shuffle: o.Shuffle = None,
    part: o.Slice = None,
    checkouts: o.Checkouts = None,
    workers: o.Workers = None,
    seed: o.Seed = 0,
    feedback: o.FeedbackName = None,
    fallback: o.Fallback = None,
    require_trust: o.RequireTrust = None,
    out: o.Out = None,
    resume: o.Resume = True,
    temperature: o.Temperature = 0.0,
    max_tokens: o.MaxTokens = 1024,
    prompts: o.Prompts = None,
    tools: o.Tools = "auto",
    steps: o.Steps = None,
    sandbox: o.SandboxName = None,
    bank: o.BankPlace = None,
    recall: o.Recall = None,
    learn: o.Learn = None,
    judge: o.Judge = False,
    withhold: o.Withhold = 0.1,
    embedder: o.EmbedderName = None,
    show: o.Show = False,
    as_json: o.Json = False,
) -> None:
    """Work a suite's tasks with a model, keep a journal, and report.

    The run can be stopped at any time; the same command goes on where it was.
    """
    from hardwon.cli.banking import BankOptions
    from hardwon.cli.loop import ArmOptions, LoopOptions
    from hardwon.cli.working import RunOptions, work
    from hardwon.suites.picking import Picking

    arm = ArmOptions(budget, temperature, max_tokens).arm(strategy, o.strategy_settings(settings, trials), seed)
    loop = LoopOptions(
        model=model,
        prompts=prompts,
        sandbox=o.one_of("--sandbox", sandbox, o.SANDBOXES),
        out=out,
        fresh=not resume,
        as_json=as_json,
    )
    work(
        RunOptions(
            loop=loop,
            arms=(arm,),
            suite=suite,
            data=data,
            limit=limit,
            ids=o.id_list(ids),
            picking=Picking(select, shuffle, part),
            checkouts=checkouts,
            workers=workers,
            feedback=o.one_of("--feedback", feedback, ("visible", "generated", "oracle")),
            fallback=o.one_of("--fallback", fallback, ("single",)) is not None,
            require_trust=require_trust,
            tools=o.one_of("--tools", tools, o.TOOL_USES),
            steps=steps,
            bank=BankOptions(bank, recall, learn, withhold, embedder, judge=judge),
            show=show,
            form="json" if as_json else "table",
        )
    )
