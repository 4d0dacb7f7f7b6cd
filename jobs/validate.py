"""What `nestsync validate` does, for Spark: `spark-submit --py-files dist/nestsync.zip jobs/validate.py -c FILE`."""

from nestsync.cli import job

if __name__ == "__main__":
    job("validate")
