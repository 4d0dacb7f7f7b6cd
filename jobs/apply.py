"""What `nestsync apply` does, for Spark: `spark-submit --py-files dist/nestsync.zip jobs/apply.py -c FILE`."""

from nestsync.cli import job

if __name__ == "__main__":
    job("apply")
